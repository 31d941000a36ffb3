#include "monitor/report/cost.h"

#include "lib/base/clock.h"
#include "lib/base/worker.h"

/*
 * ns of the calling thread, each beyond the native call. bench/README.md: a launch, an allocation and its free of 4 to
 * 16 KiB. tests/gpu/README.md: a buffer in stream order. bench/results/cpu.md: canaries that the CPU writes and
 * verifies.
 */
enum { CALL_NS = 33, BUFFER_NS = 21000, ORDERED_NS = 9500, HOST_NS = 6000 };

/*
 * ns of the device. tests/gpu/README.md: a fill and a look in a stream. Measured on an H200: rounds of the patrol take
 * 14 us for 4000 entries and 220 for 100 000; 128 copies of the gather 48.
 */
enum { FILL_NS = 1500, LOOK_NS = 8000, ROUND_NS = 6000, COPY_NS = 375 };
#define ROUND_ENTRIES_NS(count) ((count)*21 / 10)

static uint64_t (*calls)(void);

void gmod_cost_init(uint64_t (*count)(void))
{
	calls = count;
}

struct gmod_cost gmod_cost_of(const struct gmod_counts *count)
{
	uint64_t began = gmod_clock_began(), ordered = count->ordered + count->ranges;

	return (struct gmod_cost){
	    .cpu_ns = gmod_workers_cpu_ns(),
	    .hooks_ns = (calls ? calls() : 0) * CALL_NS + count->guarded * BUFFER_NS + ordered * ORDERED_NS +
			count->host * HOST_NS,
	    /* A buffer is filled and looked at by copies; the two looks at a suspect's launch are in its stream. */
	    .gpu_ns = count->guarded * (FILL_NS + COPY_NS) + ordered * (FILL_NS + LOOK_NS) +
		      count->confirm_looks * 2 * LOOK_NS + count->patrols * ROUND_NS +
		      ROUND_ENTRIES_NS(count->patrolled) + count->gathered * COPY_NS,
	    .run_ns = began ? gmod_monotonic_ns() - began : 0,
	};
}
