// guarded: some
// ledger: what other threads have just then
/* exit() while other threads allocate, launch and free, for which the driver may go away under them. */
#include "testkit.h"
#include <stdatomic.h>

static CUfunction flip;
static atomic_int allocated;

static void *allocate(void *unused TK_UNUSED)
{
	long long zero = 0, n = 1000;
	CUdeviceptr p;

	if (cuCtxSetCurrent(tk_context) != CUDA_SUCCESS)
		return NULL;
	while (cuMemAlloc(&p, 1000) == CUDA_SUCCESS) {
		atomic_fetch_add(&allocated, 1);
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
	for (int i = 0; i < 4; i++)
		tk_begin_thread(allocate, NULL);
	tk_sleep_ms(150);
	while (!atomic_load(&allocated))
		tk_sleep_ms(1);
	puts("leaving");
	exit(0);
}
