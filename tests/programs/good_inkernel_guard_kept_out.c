// skip-on: sim
// options: device_heap_mb=64
/*
 * A kernel that fills every multiprocessor goes through several times what the heap has: the guard finds no place
 * beside it, and threads that find the heap full collect what has been freed.
 */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_get_stats

enum { THREADS = 256 };

static int blocks_that_fit(CUfunction f)
{
	int each, processors;

	CK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, f, THREADS, 0));
	CK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, tk_device));
	return each * processors;
}

static void require_collected(int missing)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s)};

	if (!gmod_device_get_stats)
		return;
	REQUIRE(gmod_device_get_stats(&s) == GMOD_OK);
	fprintf(stderr, "%d not got, %llu collected by threads, %llu passes\n", missing, (unsigned long long)s.reclaims,
		(unsigned long long)s.passes);
	REQUIRE(missing == 0 && s.reclaims > 0);
}

int main(void)
{
	long long rounds = 20, size = 40;
	CUdeviceptr missing, none = 0;
	CUfunction pairs;

	ik_start();
	missing = ik_counter();
	pairs = ik_kernel("d_pairs");
	tk_launch(pairs, (unsigned)blocks_that_fit(pairs), THREADS, NULL, TK_ARGS(&rounds, &size, &missing, &none));
	tk_sync();
	require_collected(ik_count(missing));
	printf("done\n");
	return 0;
}
