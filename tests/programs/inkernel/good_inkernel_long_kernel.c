/*
 * While kernels allocate for a tenth of a second the program allocates and frees memory of its own and waits for the
 * device, which may take as long as they do.
 */
#include "inkernel.h"

static void *stop_later(void *stop)
{
	tk_sleep_ms(100);
	*(volatile int *)stop = 1;
	return NULL;
}

static void use_memory(void)
{
	CUdeviceptr p[10];

	for (int i = 0; i < 10; i++) {
		CK(cuMemAlloc(&p[i], 5000));
		CK(cuMemsetD8(p[i], 7, 5000));
	}
	for (int i = 0; i < 10; i++)
		CK(cuMemFree(p[i]));
}

int main(void)
{
	long long rounds = 1ll << 40, size = 120;
	pthread_t thread;
	CUdeviceptr missing = ik_counter();
	volatile int *stop = tk_flag();
	CUstream busy = tk_stream();

	for (int i = 0; i < 4; i++) {
		*stop = 0;
		tk_launch(ik_kernel("d_pairs"), 4, 32, busy, TK_ARGS(&rounds, &size, &missing, &stop));
		thread = tk_begin_thread(stop_later, (void *)stop);
		use_memory();
		tk_sync();
		tk_end_thread(thread);
	}
	printf("not got: %d\n", ik_count(missing));
}
