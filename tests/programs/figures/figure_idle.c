/*
 * How often the monitor wakes up while the GPU has nothing to do.
 *
 *	figure_idle [pinned [seconds]]
 *
 * A hundred buffers have been worked on and all work is proven done; with `pinned` not 0 a pinned buffer lives too,
 * which the CPU could write at any time. The patrol looks at each word once more, ever less often, and then rests.
 * Counts from then on the voluntary context switches of the monitor's thread, its sweeps, and the CPU time it took.
 */
#include "include/gmod.h"
#include "proc.h"

#pragma weak gmod_get_stats

#define BUFFERS 100
#define RESTS_WITHIN 40 /* s: 64 rounds, each half a second behind the other at most; else it is counted as it is */

static int seconds_until_rest(void)
{
	long long before = proc_monitor_number("status", "voluntary_ctxt_switches"), now;

	for (int s = 1; s < RESTS_WITHIN; s++, before = now) {
		tk_sleep_ms(1000);
		now = proc_monitor_number("status", "voluntary_ctxt_switches");
		if (now - before <= 2)
			return s;
	}
	return RESTS_WITHIN;
}

static unsigned long long sweeps(void)
{
	struct gmod_stats s = {.struct_size = sizeof(s)};

	if (gmod_get_stats)
		gmod_get_stats(&s);
	return s.sweeps;
}

int main(int argc, char **argv)
{
	int pinned = argc > 1 ? atoi(argv[1]) : 0, seconds = argc > 2 ? atoi(argv[2]) : 5, rests;
	unsigned long long swept;
	long long wakes, ns;
	CUdeviceptr p;
	void *host;

	tk_start();
	for (int i = 0; i < BUFFERS; i++) {
		CK(cuMemAlloc(&p, 4000 + i));
		tk_flip(p, 0, 4000 + i);
	}
	if (pinned)
		CK(cuMemHostAlloc(&host, 4000, 0));
	tk_sync();
	proc_monitor();
	rests = seconds_until_rest();
	wakes = proc_monitor_number("status", "voluntary_ctxt_switches");
	ns = proc_monitor_ns();
	swept = sweeps();
	tk_sleep_ms(seconds * 1000);
	wakes = proc_monitor_number("status", "voluntary_ctxt_switches") - wakes;
	ns = proc_monitor_ns() - ns;
	printf("pinned=%d wakeups_per_s=%.2f sweeps_per_s=%.2f cpu_percent=%.4f rests_after_s=%d\n", pinned,
	       (double)wakes / seconds, (double)(sweeps() - swept) / seconds, (double)ns / 1e7 / seconds, rests);
}
