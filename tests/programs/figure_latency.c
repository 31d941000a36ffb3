/*
 * How long after a kernel's corrupting store the finding is there.
 *
 *	figure_latency [buffers [trials]]
 *
 * A number of buffers is live. In each trial a kernel first waits for a random time, so that its store falls anywhere
 * between two sweeps, then says so in pinned memory (k_wait_stamp) and corrupts the first byte behind one buffer. The
 * CPU stamps both the flag and the first sight of the finding with the same clock, in one loop. The clock starts a
 * little before the store, so the figure is at most too large. Buffers fill their pages: the byte behind them lies on
 * the page that the CPU reads (one in the rounding of a page, on the device, is found by the slower gather). The buffer
 * is freed and made anew after its trial, because a buffer's side is reported once.
 *
 * Needs gmod_findings_seen(), so it runs under GMOD only. Prints microseconds.
 */
#include "testkit.h"

#define MAX_BUFFERS 10000
#define MAX_TRIALS 100000
#define PATIENCE_MS 2000

/* How many findings the process has so far (include/gmod.h). */
extern unsigned gmod_findings_seen(void) __attribute__((weak));

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Milliseconds from the flag to the finding, or -1. */
static double wait_for_finding(volatile int *flag, unsigned before)
{
	double end = tk_ms() + PATIENCE_MS, stored = 0;

	while (!*flag && tk_ms() < end)
		;
	stored = tk_ms();
	while (gmod_findings_seen() == before)
		if (tk_ms() > end)
			return -1;
	return tk_ms() - stored;
}

int main(int argc, char **argv)
{
	int buffers = argc > 1 ? atoi(argv[1]) : 100, trials = argc > 2 ? atoi(argv[2]) : 1000;
	static double late[MAX_TRIALS];
	static CUdeviceptr p[MAX_BUFFERS];
	int found = 0, missed = 0;
	volatile int *flag;
	uint64_t seed = 1;
	CUfunction f;

	REQUIRE(buffers > 0 && buffers <= MAX_BUFFERS && trials > 0 && trials <= MAX_TRIALS);
	if (!gmod_findings_seen)
		tk_skip("runs under GMOD only");
	tk_start();
	f = tk_kernel("k_wait_stamp");
	flag = tk_flag();
	for (int i = 0; i < buffers; i++)
		CK(cuMemAlloc(&p[i], 4096 * (1 + i % 4)));
	for (int t = 0; t < trials; t++) {
		int i = (int)(tk_random(&seed) % (unsigned)buffers), us = (int)(tk_random(&seed) % 5000);
		long long end = 4096 * (1 + i % 4);
		unsigned before = gmod_findings_seen();
		double ms;

		*flag = 0;
		tk_launch(f, 1, 1, NULL, TK_ARGS(&flag, &p[i], &end, &us));
		ms = wait_for_finding(flag, before);
		if (ms < 0)
			missed++;
		else
			late[found++] = ms * 1e3;
		tk_sync();
		CK(cuMemFree(p[i]));
		CK(cuMemAlloc(&p[i], (size_t)end));
	}
	REQUIRE(found > 0);
	qsort(late, (size_t)found, sizeof(*late), ascending);
	printf("buffers=%d trials=%d missed=%d p50_us=%.1f p99_us=%.1f max_us=%.1f\n", buffers, trials, missed,
	       late[found / 2], late[(size_t)found * 99 / 100], late[found - 1]);
	return missed > 0;
}
