// skip-on: sim
// options: device_heap_mb=64
/*
 * A kernel that takes the shared memory of every multiprocessor goes through several times what the heap has: the guard
 * finds no place beside it, and threads that find the heap full collect what has been freed.
 */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_get_stats

enum { THREADS = 256 };

static int attribute(CUdevice_attribute which)
{
	int value;

	CK(cuDeviceGetAttribute(&value, which, tk_device));
	return value;
}

static void require_collected(int missing)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s)};

	if (!gmod_device_get_stats)
		return;
	REQUIRE(gmod_device_get_stats(&s) == GMOD_OK);
	REQUIRE(missing == 0 && s.reclaims > 0);
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
	require_collected(ik_count(missing));
	printf("done\n");
}
