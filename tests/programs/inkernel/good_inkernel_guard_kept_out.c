// skip-on: sim
// options: device_heap_mb=64
// case: good_inkernel_guard_kept_out
// case: good_inkernel_guard_kept_out_delayed => options: device_heap_mb=64:device_free_delay=1000
/*
 * A kernel that takes the shared memory of every multiprocessor goes through several times what the heap has: the guard
 * finds no place beside it, and what the kernel frees is there again nevertheless, or all but a part of it.
 */
#include "inkernel.h"

enum { THREADS = 256 };

static int attribute(CUdevice_attribute which)
{
	int value;

	CK(cuDeviceGetAttribute(&value, which, tk_device));
	return value;
}

int main(void)
{
	long long rounds = 100, size = 40;
	CUdeviceptr none = 0;
	CUdeviceptr missing = ik_counter();
	CUfunction pairs = ik_kernel("d_pairs");
	int shared = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);

	CK(cuFuncSetAttribute(pairs, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
	CK(cuLaunchKernel(pairs, (unsigned)attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 1, 1, THREADS, 1, 1,
			  (unsigned)shared, NULL, TK_ARGS(&rounds, &size, &missing, &none), NULL));
	tk_sync();
	REQUIRE(!gmod_findings_seen || ik_count(missing) == 0); /* CUDA's own heap has 8 MiB */
	printf("done\n");
}
