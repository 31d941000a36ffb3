// case: good_inkernel_room 8, 100 => options: device_heap_mb=100
// case: good_inkernel_room_of_the_limit 60, 120 => options: device_heap_mb=100
/*
 * A heap has all that it is to have before the first kernel runs: as much as the option says, or twice the limit that
 * the program has set for CUDA's own. So a kernel gets it while the program is in a call that waits for this very
 * kernel.
 */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_get_stats

#define MIB ((size_t)1 << 20)

static void require_size(uint64_t size)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s)};

	if (!gmod_device_get_stats)
		return;
	REQUIRE(gmod_device_get_stats(&s) == GMOD_OK);
	/* A driver may make the limit a rounder number. */
	fprintf(stderr, "heap %llu bytes\n", (unsigned long long)s.heap_bytes);
	REQUIRE(s.heap_bytes >= size * MIB && s.heap_bytes < (size + 8) * MIB && s.committed_bytes == s.heap_bytes);
}

static void run(size_t limit, long long expected)
{
	CUdeviceptr chain = tk_alloc(2 * sizeof(void *)), got, p;
	/* A buffer of a MiB takes a chunk of 64 KiB more. */
	long long found[2], size = MIB, most = expected * 16 / 17 / 2;

	/* No program's limit has to be a number of chunks. */
	CK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, limit * MIB + 1000));
	CK(cuModuleLoad(&ik_module, ik_file()));
	got = ik_array(2);
	p = tk_alloc(4 * MIB);
	tk_spin(NULL, 20);
	tk_launch(ik_kernel("d_hoard"), 1, 2, NULL, TK_ARGS(&chain, &size, &most, &got));
	CK(cuMemFree(p));
	tk_sync();
	CK(cuMemcpyDtoH(found, got, sizeof(found)));
	REQUIRE(!gmod_device_get_stats || (found[0] == most && found[1] == most));
	require_size((uint64_t)expected);
}

int main(void)
{
	run(CASE);
}
