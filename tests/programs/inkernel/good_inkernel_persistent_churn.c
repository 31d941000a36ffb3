// options: device_guard=persistent
/* Two streams of kernels that allocate and free under a guard that stays, between calls that wait for the device. */
#include "inkernel.h"

enum { STREAMS = 2, LAUNCHES = 6 };

int main(void)
{
	long long rounds = 20, seed;
	CUstream stream[STREAMS];
	CUdeviceptr bad, memory;

	ik_start();
	bad = ik_counter();
	for (int i = 0; i < STREAMS; i++)
		CK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < LAUNCHES; i++) {
		seed = i;
		for (int s = 0; s < STREAMS; s++)
			tk_launch(ik_kernel("d_churn"), 16, 128, stream[s], TK_ARGS(&rounds, &seed, &bad));
		CK(cuMemAlloc(&memory, 5000));
		CK(cuStreamSynchronize(stream[i % STREAMS]));
		CK(cuMemFree(memory));
	}
	printf("bad: %d\n", ik_count(bad));
	return 0;
}
