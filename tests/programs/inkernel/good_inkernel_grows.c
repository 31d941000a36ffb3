// case: good_inkernel_grows 0, 8 => options: device_heap_mb=400
// case: good_inkernel_grows_unwatched 0, 8 => options: device_heap_mb=400:scan_interval_us=60000000
// case: good_inkernel_grows_late 1600, 8 => options: device_heap_mb=400:device_guard_us=60000000
// case: good_inkernel_grows_to_the_limit 0, 400 => options: device_heap_mb=100
// case: good_inkernel_grows_not 0, 8 => options: device_heap_mb=400;
//    env: NV_SANITIZER_INJECTION_TRANSPORT_TYPE=0; skip-on: gpu; ledger: this heap reserves no addresses
/*
 * A heap begins with a part of what it may have, and kernels that want more get it, in steps, while they run: also
 * where nobody looks at buffers for long, or has seen anything happen for a while. Beside compute-sanitizer it has all
 * at once. The limit that a program sets for CUDA's own heap counts for this one. It goes with its context, all of it.
 */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_get_stats

#define MIB ((uint64_t)1 << 20)

static void require_committed(uint64_t least, uint64_t most)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s)};

	if (!gmod_device_get_stats)
		return;
	REQUIRE(gmod_device_get_stats(&s) == GMOD_OK);
	REQUIRE(s.committed_bytes >= least * MIB && s.committed_bytes <= most * MIB);
}

/* So many pieces of a MiB for each of two threads, all of which they get. */
static void take(CUdeviceptr chain, long long most)
{
	long long got[2], size = MIB;
	CUdeviceptr p = ik_array(2);

	tk_launch(ik_kernel("d_hoard"), 1, 2, NULL, TK_ARGS(&chain, &size, &most, &p));
	tk_sync();
	CK(cuMemcpyDtoH(got, p, sizeof(got)));
	/* CUDA's own heap has 8 MiB. */
	REQUIRE(!gmod_device_get_stats || (got[0] == most && got[1] == most));
}

static void run(int spin, size_t limit)
{
	int whole = getenv("NV_SANITIZER_INJECTION_TRANSPORT_TYPE") != NULL;
	CUdeviceptr chain = tk_alloc(2 * sizeof(void *));

	CK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, limit * MIB));
	/* The monitor pauses by now, and knows of no such kernels. */
	tk_sleep_ms(10);
	CK(cuModuleLoad(&ik_module, ik_file()));
	take(chain, 1);
	require_committed(whole ? 256 : 64, whole ? 256 : 64);
	take(chain, 40);
	require_committed(whole ? 256 : 128, 256);
	tk_spin(NULL, spin);
	take(chain, 60);
	require_committed(256, whole ? 256 : 400);
	CK(cuDevicePrimaryCtxReset(tk_device));
}

int main(void)
{
	run(CASE);
}
