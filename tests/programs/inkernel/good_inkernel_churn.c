// case: good_inkernel_churn 4, 3, 0
// case: good_inkernel_persistent_churn 2, 6, 1 => options: device_guard=persistent
/*
 * Streams of kernels that allocate and free at the same time, more of them than the heap has room for at once; and
 * under a guard that stays, between calls that wait for the device.
 */
#include "inkernel.h"

static void churn(int streams, int launches, int wait)
{
	long long rounds = 20, seed;
	CUdeviceptr bad = ik_counter(), memory;
	CUstream stream[4];

	for (int i = 0; i < streams; i++)
		CK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < launches; i++) {
		for (int s = 0; s < streams; s++) {
			seed = i * streams + s;
			tk_launch(ik_kernel("d_churn"), 32, 128, stream[s], TK_ARGS(&rounds, &seed, &bad));
		}
		if (!wait)
			continue;
		CK(cuMemAlloc(&memory, 5000));
		CK(cuStreamSynchronize(stream[i % streams]));
		CK(cuMemFree(memory));
	}
	printf("bad: %d\n", ik_count(bad));
}

int main(void)
{
	ik_start();
	churn(CASE);
}
