/* Four streams of kernels that allocate and free at the same time, more of them than the heap has room for at once. */
#include "inkernel.h"

enum { STREAMS = 4, LAUNCHES = 3 };

int main(void)
{
	long long rounds = 20, seed;
	CUstream stream[STREAMS];
	CUdeviceptr bad;
	int count;

	ik_start();
	CK(cuMemAlloc(&bad, sizeof(count)));
	CK(cuMemsetD32(bad, 0, 1));
	tk_sync();
	for (int i = 0; i < STREAMS; i++)
		CK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < STREAMS * LAUNCHES; i++) {
		seed = i;
		tk_launch(ik_kernel("d_churn"), 32, 128, stream[i % STREAMS], TK_ARGS(&rounds, &seed, &bad));
	}
	tk_sync();
	CK(cuMemcpyDtoH(&count, bad, sizeof(count)));
	printf("bad: %d\n", count);
	return 0;
}
