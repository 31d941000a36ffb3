/* A cooperative launch, of as many blocks as are let on the device, that allocates and frees. */
#include "inkernel.h"

int main(void)
{
	long long rounds = 5, seed = 1;
	int blocks, processors;
	CUdeviceptr bad = ik_counter();

	CK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ik_kernel("d_churn"), 32, 0));
	CK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, tk_device));
	REQUIRE(blocks > 0 && processors > 0);
	blocks = (blocks < 2 ? blocks : 2) * processors;
	CK(cuLaunchCooperativeKernel(ik_kernel("d_churn"), (unsigned)blocks, 1, 1, 32, 1, 1, 0, NULL,
				     TK_ARGS(&rounds, &seed, &bad)));
	printf("marks gone: %d\n", ik_count(bad));
}
