/* The launch that has no role: one of a list. */
#include "lib/hooks/launching.h"

/*
 * One record for the first device's share: the others run the same function. Their contexts are not looked at: mallocN
 * is CUDA's malloc where no other launch has made a heap.
 */
GMOD_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned count, unsigned flags)
{
	const CUDA_LAUNCH_PARAMS *p = count ? list : NULL;
	struct gmod_launching l = {NULL, NULL, 0};

	gmod_ordered_passed(); /* all streams of the list come behind each other */
	if (p) {
		l = gmod_launching_begin(gmod_handle(p->function), p->hStream, GMOD_LEGACY, false, p->kernelParams,
					 NULL);
		gmod_launching_shape(&l, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY,
				     p->blockDimZ, p->sharedMemBytes, NULL);
	}
	return gmod_launching_end(&l, NEXT(cuLaunchCooperativeKernelMultiDevice)(list, count, flags), __func__);
}
