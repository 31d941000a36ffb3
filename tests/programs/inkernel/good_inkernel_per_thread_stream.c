/* Four threads whose kernels allocate, each on its per-thread default stream: the first launches race. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "inkernel.h"

static CUdeviceptr bad;

static void *work(void *unused TK_UNUSED)
{
	long long count = 200, size = 90;
	CUdeviceptr p;

	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < 20; i++) {
		p = ik_alloc(count, size);
		tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
		tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &size, &bad));
		ik_free(p, count, 0);
		CK(cuStreamSynchronize(NULL));
		CK(cuMemFree(p));
	}
	return NULL;
}

int main(void)
{
	ik_start();
	bad = ik_counter();
	tk_in_threads(4, work);
	printf("bytes gone: %d\n", ik_count(bad));
}
