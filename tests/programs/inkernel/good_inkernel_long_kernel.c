/*
 * While kernels allocate for a tenth of a second the program allocates and frees memory of its own and waits for the
 * device, which may take as long as they do.
 */
#include "inkernel.h"
#include <pthread.h>

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
	CUdeviceptr missing;
	volatile int *stop;
	pthread_t thread;
	CUstream busy;

	ik_start();
	missing = ik_counter();
	stop = tk_flag();
	CK(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 4; i++) {
		*stop = 0;
		tk_launch(ik_kernel("d_pairs"), 4, 32, busy, TK_ARGS(&rounds, &size, &missing, &stop));
		REQUIRE(!pthread_create(&thread, NULL, stop_later, (void *)stop));
		use_memory();
		tk_sync();
		REQUIRE(!pthread_join(thread, NULL));
	}
	printf("not got: %d\n", ik_count(missing));
	return 0;
}
