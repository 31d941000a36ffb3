/* A green context over all of the device, made current. */
#ifndef GMOD_GREEN_H
#define GMOD_GREEN_H

#include "testkit.h"

#if CUDA_VERSION >= 12040
static CUgreenCtx make_green(CUcontext *c)
{
	CUdevResource all;
	CUdevResourceDesc what;
	CUgreenCtx green;

	CK(cuDeviceGetDevResource(tk_device, &all, CU_DEV_RESOURCE_TYPE_SM));
	CK(cuDevResourceGenerateDesc(&what, &all, 1));
	CK(cuGreenCtxCreate(&green, what, tk_device, CU_GREEN_CTX_DEFAULT_STREAM));
	CK(cuCtxFromGreenCtx(c, green));
	CK(cuCtxSetCurrent(*c));
	return green;
}
#endif

#endif
