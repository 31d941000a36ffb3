/*
 * How long after a kernel's corrupting store the finding is there.
 *
 *	figure_latency [buffers [trials [idle|busy [seconds]]]]
 *
 * A number of buffers is live. In each trial a kernel first waits for a random time, so that its store falls anywhere
 * between two sweeps, then says so in pinned memory (k_wait_stamp) and corrupts the first byte behind one buffer. The
 * CPU stamps both the flag and the first sight of the finding with the same clock, in one loop. The clock starts a
 * little before the store, so the figure is at most too large, if this thread has a core of its own. Buffers fill
 * their pages: the byte behind them lies on the page that the CPU reads (one in the rounding of a page, on the device,
 * is found by the slower gather). The buffer is freed and made anew after its trial, because a buffer's side is
 * reported once.
 *
 * busy: meanwhile a thread launches, on a stream of its own, kernels of about a millisecond that fill all
 * multiprocessors (k_busy), two at a time. They are short because freeing a buffer waits for them.
 *
 * No trial begins later than `seconds` after the first one (default: 60), so trials= may be less than was asked for. No
 * more than MISSES stores are waited for in vain.
 *
 * Needs gmod_findings_seen(), so it runs under GMOD only. Prints microseconds; alloc_us is what a buffer took at first.
 */
#include "many_buffers.h"
#include "sorted.h"
#include <stdatomic.h>
#include <stdbool.h>

#define MAX_TRIALS 100000
#define PATIENCE_MS 2000
#define MISSES 5

/* How many findings the process has so far (include/gmod.h). */
extern unsigned gmod_findings_seen(void) __attribute__((weak));

static double late[MAX_TRIALS];

/* ---- the buffers ---- */

static long long size_of(int i)
{
	return 4096 * (1 + i % 4);
}

/* ---- a busy device ---- */

static struct {
	CUfunction kernel;
	CUstream stream;
	unsigned blocks;
	int rounds;
	volatile int *never;
	pthread_t thread;
	atomic_bool stop;
} busy;

#define BUSY_THREADS 256

static void launch_busy(void)
{
	tk_launch(busy.kernel, busy.blocks, BUSY_THREADS, busy.stream, TK_ARGS(&busy.rounds, &busy.never));
}

static void *keep_busy(void *unused)
{
	CUevent done[2];

	(void)unused;
	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < 2; i++)
		CK(cuEventCreate(&done[i], CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING));
	for (int i = 0; !atomic_load(&busy.stop); i = !i) {
		/* One that was never recorded is done. */
		CK(cuEventSynchronize(done[i]));
		launch_busy();
		CK(cuEventRecord(done[i], busy.stream));
	}
	return NULL;
}

/* As many threads as the device can hold, and so many rounds of each that a launch takes a millisecond or two. */
static void start_busy(volatile int *never)
{
	int processors, threads;
	double begin;

	CK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, tk_device));
	CK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, tk_device));
	busy.kernel = tk_kernel("k_busy");
	busy.blocks = (unsigned)(processors * (threads / BUSY_THREADS));
	busy.never = never;
	CK(cuStreamCreate(&busy.stream, CU_STREAM_NON_BLOCKING));
	launch_busy(); /* without rounds: loads the kernel */
	CK(cuStreamSynchronize(busy.stream));
	busy.rounds = 1;
	do {
		busy.rounds *= 2;
		begin = tk_ms();
		launch_busy();
		CK(cuStreamSynchronize(busy.stream));
	} while (tk_ms() - begin < 1 && busy.rounds < 1 << 24);
	busy.thread = tk_begin_thread(keep_busy, NULL);
}

static void stop_busy(void)
{
	atomic_store(&busy.stop, true);
	pthread_join(busy.thread, NULL);
	CK(cuStreamSynchronize(busy.stream));
}

/* ---- trials ---- */

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

static double one_trial(CUfunction f, CUstream stream, volatile int *flag, int i, int us)
{
	long long end = size_of(i);
	unsigned before = gmod_findings_seen();
	double ms;

	*flag = 0;
	tk_launch(f, 1, 1, stream, TK_ARGS(&flag, &buffers[i], &end, &us));
	ms = wait_for_finding(flag, before);
	CK(cuStreamSynchronize(stream));
	CK(cuMemFree(buffers[i]));
	CK(cuMemAlloc(&buffers[i], (size_t)end));
	return ms;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100, trials = argc > 2 ? atoi(argv[2]) : 1000;
	const char *device = argc > 3 ? argv[3] : "idle";
	int is_busy = !strcmp(device, "busy"), found = 0, missed = 0;
	double seconds = argc > 4 ? atof(argv[4]) : 60, begin, allocation_ms;
	volatile int *flag;
	uint64_t seed = 1;
	CUstream stream;
	CUfunction f;

	REQUIRE(count > 0 && count <= MAX_BUFFERS && trials > 0 && trials <= MAX_TRIALS && seconds > 0);
	REQUIRE(is_busy || !strcmp(device, "idle"));
	if (!gmod_findings_seen)
		tk_skip("runs under GMOD only");
	tk_start();
	f = tk_kernel("k_wait_stamp");
	flag = tk_flag();
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	allocation_ms = allocate(count, size_of);
	if (is_busy)
		start_busy(flag);
	begin = tk_ms();
	while (found + missed < trials && missed < MISSES && tk_ms() - begin < seconds * 1e3) {
		int i = (int)(tk_random(&seed) % (unsigned)count), us = (int)(tk_random(&seed) % 5000);
		double ms = one_trial(f, stream, flag, i, us);

		if (ms < 0)
			missed++;
		else
			late[found++] = ms * 1e3;
	}
	if (is_busy)
		stop_busy();
	if (!found)
		fail("none of %d stores was found within %d ms each", missed, PATIENCE_MS);
	sorted(late, (size_t)found);
	printf("buffers=%d trials=%d missed=%d p50_us=%.1f p99_us=%.1f max_us=%.1f busy=%d alloc_us=%.1f\n", count,
	       found + missed, missed, late[found / 2], late[(size_t)found * 99 / 100], late[found - 1], is_busy,
	       allocation_ms * 1e3 / count);
	if (missed)
		fprintf(stderr, "FAIL figure_latency: %d of %d stores were not found within %d ms each\n", missed,
			found + missed, PATIENCE_MS);
	return missed > 0;
}
