/* Streams of kernels that allocate and free at the same time, more of them than the heap has room for at once. */
#include "inkernel.h"

enum { STREAMS = 4, LAUNCHES = 3 };

int main(void)
{
	long long rounds = 20;
	CUstream stream[STREAMS];
	CUdeviceptr bad;

	ik_start();
	bad = ik_counter();
	for (int i = 0; i < STREAMS; i++)
		CK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
	for (long long seed = 0; seed < STREAMS * LAUNCHES; seed++)
		tk_launch(ik_kernel("d_churn"), 32, 128, stream[seed % STREAMS], TK_ARGS(&rounds, &seed, &bad));
	printf("bad: %d\n", ik_count(bad));
}
