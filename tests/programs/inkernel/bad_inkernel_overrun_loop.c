// case: bad_inkernel_overrun_loop 31250 => 20 x heap-buffer-overflow size 100 offset +0;
//    options: device_heap_mb=16:max_reports=20
// case: bad_inkernel_overrun_slow 31250 => 20 x heap-buffer-overflow size 100 offset +0;
//    options: device_heap_mb=16:max_reports=20; sim-env: SIM_STALL=cuEventQuery:*:10
// case: bad_inkernel_overrun_some 6 => 192 x heap-buffer-overflow size 100 offset +0;
//    options: device_heap_mb=16:max_reports=200
// suspect: d_overrun
/*
 * Threads allocate, write one byte too many and free, over and over. They always get memory; each buffer is reported
 * once while there is room for it in the ring of findings, or a quarter of the heap to keep it in, and else counted. A
 * check that has not all of them yet says so.
 */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_check
#pragma weak gmod_device_get_stats

enum { THREADS = 32 };

static void require_counted(uint64_t buffers)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s)};
	double end = tk_ms() + 20000;
	enum gmod_status status;

	if (!gmod_device_get_stats)
		return;
	while ((status = gmod_device_check()) == GMOD_BUSY && tk_ms() < end)
		;
	REQUIRE(status == GMOD_OK && gmod_device_get_stats(&s) == GMOD_OK);
	fprintf(stderr, "%u seen and %llu lost of %llu\n", gmod_findings_seen(), (unsigned long long)s.findings_lost,
		(unsigned long long)buffers);
	REQUIRE(gmod_findings_seen() >= 192 && gmod_findings_seen() + s.findings_lost == buffers);
	REQUIRE(s.live_buffers == 0 && s.waiting_buffers == 0 && s.damaged_entries == 0 && s.failed_allocations == 0);
	REQUIRE(s.released_buffers == buffers);
}

int main(void)
{
	long long rounds = CASE, size = 100;
	CUdeviceptr missing = ik_counter();

	tk_launch(ik_kernel("d_overrun"), 1, THREADS, NULL, TK_ARGS(&rounds, &size, &missing));
	REQUIRE(!gmod_findings_seen || ik_count(missing) == 0);
	require_counted((uint64_t)rounds * THREADS);
}
