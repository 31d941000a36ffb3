/* exit() in one thread while eight others allocate, launch and free; one buffer was overrun, and nobody frees it. */
#include "make_buffer.h"

static CUfunction flip;

static void *work(void *unused TK_UNUSED)
{
	long long zero = 0, n = 1000;
	CUdeviceptr p;

	if (cuCtxSetCurrent(tk_context) != CUDA_SUCCESS)
		return NULL;
	while (cuMemAlloc(&p, 1000) == CUDA_SUCCESS) {
		cuLaunchKernel(flip, 8, 1, 1, 128, 1, 1, 0, NULL, TK_ARGS(&p, &zero, &n), NULL);
		cuMemFree(p);
	}
	for (;;)
		pause();
}

int main(void)
{
	tk_start();
	flip = tk_kernel("k_flip");
	tk_flip(make_buffer(4000), 4000, 1);
	tk_sync();
	for (int i = 0; i < 8; i++)
		tk_begin_thread(work, NULL);
	tk_sleep_ms(60);
	puts("leaving");
	exit(0);
}
