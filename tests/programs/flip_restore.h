/* Bytes beside a buffer that are changed for a while and put back: at the end nothing is wrong any more. */
#pragma once

#include "include/gmod.h"
#include "testkit.h"

extern void gmod_get_stats(struct gmod_stats *stats) __attribute__((weak));

enum { SWEEPS = 20 };

static TK_UNUSED uint64_t sweeps_so_far(void)
{
	struct gmod_stats stats = {.struct_size = sizeof(stats)};

	gmod_get_stats(&stats);
	return stats.sweeps;
}

/* For longer than there is between two gathers where the first one had to be made ready, and under GMOD until it has
 * made some sweeps meanwhile, for which a busy machine may take longer. */
static TK_UNUSED void flip_and_restore(CUdeviceptr p, long long off, long long count)
{
	volatile int *flag = tk_flags(2);
	uint64_t before;
	double end = tk_ms() + 10000;

	tk_launch(tk_kernel("k_flip_until"), 1, 1, NULL, TK_ARGS(&p, &off, &count, &flag));
	while (!flag[0] && tk_ms() < end) /* a kernel that faults never sets it */
		tk_sleep_ms(1);
	REQUIRE(flag[0]);
	before = gmod_get_stats ? sweeps_so_far() : 0;
	end = tk_ms() + 10000;
	tk_sleep_ms(250);
	while (gmod_get_stats && sweeps_so_far() - before < SWEEPS && tk_ms() < end)
		tk_sleep_ms(1);
	flag[1] = 1;
	tk_sync();
}
