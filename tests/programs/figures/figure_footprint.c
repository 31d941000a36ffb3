/*
 * What a buffer takes: memory of the host and of the device, and the monitor's time in each sweep.
 *
 *	figure_footprint [buffers [bytes [seconds]]]
 *
 * Prints, for each of so many live buffers of one size, natively and under GMOD:
 *	host_bytes	growth of the process's resident set (smaps_rollup). Canary pages of managed memory are in it as
 *			far as the kernel counts them as the process's; page tables, and what the driver keeps in the
 *			kernel, are not.
 *	device_bytes	what is no longer free on the device (cuMemGetInfo, of the whole device: another program's
 *			memory would be in it). The driver takes memory in chunks, so that of few buffers this is mostly
 *			their share in one. GMOD does not change the answer but for what a buffer will take and has not
 *			yet, and there is nothing such when all work is done.
 *	alloc_us	what allocating it took
 * One buffer is there before, with what comes only once.
 *
 * Under GMOD also ns_per_buffer: for the given time an empty kernel is launched every 100 us, so that the monitor has
 * reason to sweep, and its CPU time is divided by sweeps and live buffers. All that the thread does meanwhile is in it,
 * as asking for what has been proven done; most of that is the sweep where there are many buffers. Where
 * scan_interval_us is not 0 what a sweep costs after a pause is measured, and there are few of them. The time is cut
 * into 20 pieces, as others on the machine disturb its memory by the second: the figures are the pieces' median, and
 * ns_low and ns_high its interval of 95 %, the sixth least and the sixth greatest of 20.
 */
#include "include/gmod.h"
#include "many_buffers.h"
#include "proc.h"
#include "sorted.h"

#define LAUNCH_EVERY_NS 100000

enum { PIECES = 20, LOW = 5, HIGH = PIECES - 1 - LOW };

extern void gmod_get_stats(struct gmod_stats *stats) __attribute__((weak));

static long long bytes;

static long long size_of(int i)
{
	(void)i;
	return bytes;
}

struct memory {
	long long host, device; /* bytes in use */
};

static struct memory memory_used(void)
{
	size_t available, total;

	tk_sync();
	CK(cuMemGetInfo(&available, &total));
	return (struct memory){proc_number("/proc/self/smaps_rollup", "Rss") * 1024, (long long)(total - available)};
}

static void launch_empty(CUfunction f, CUdeviceptr p)
{
	long long off = 0, count = 0;

	tk_launch(f, 1, 1, NULL, TK_ARGS(&p, &off, &count));
}

static void keep_launching(CUdeviceptr p, double seconds)
{
	struct timespec pause = {0, LAUNCH_EVERY_NS};
	CUfunction f = tk_kernel("k_flip");
	double end = tk_ms() + seconds * 1e3;

	while (tk_ms() < end) {
		launch_empty(f, p);
		nanosleep(&pause, NULL);
	}
}

static struct gmod_stats stats_now(void)
{
	struct gmod_stats stats = {.struct_size = sizeof(stats)};

	gmod_get_stats(&stats);
	return stats;
}

/* ns of the monitor's time for each sweep over each buffer. A busy machine may need longer for the first one. */
static double piece(CUdeviceptr p, double seconds, uint64_t *sweeps, uint64_t *live)
{
	long long before_ns = proc_monitor_ns();
	struct gmod_stats before = stats_now(), now = before;

	for (int i = 0; i < 100 && now.sweeps == before.sweeps; i++) {
		keep_launching(p, seconds);
		now = stats_now();
	}
	if (now.sweeps == before.sweeps || !now.live_buffers)
		fail("%llu sweeps over %llu buffers in %g s", (unsigned long long)(now.sweeps - before.sweeps),
		     (unsigned long long)now.live_buffers, 100 * seconds);
	*sweeps += now.sweeps - before.sweeps;
	*live = now.live_buffers;
	return (double)(proc_monitor_ns() - before_ns) / (double)(now.sweeps - before.sweeps) /
	       (double)now.live_buffers;
}

static void measure_sweeps(CUdeviceptr p, double seconds)
{
	uint64_t sweeps = 0, live = 0;
	double ns[PIECES], median;

	for (int i = 0; i < PIECES; i++)
		ns[i] = piece(p, seconds / PIECES, &sweeps, &live);
	sorted(ns, PIECES);
	median = (ns[PIECES / 2 - 1] + ns[PIECES / 2]) / 2;
	printf(" sweeps=%llu us_per_sweep=%.2f ns_per_buffer=%.2f ns_low=%.2f ns_high=%.2f", (unsigned long long)sweeps,
	       median * (double)live / 1e3, median, ns[LOW], ns[HIGH]);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000;
	double seconds = argc > 3 ? atof(argv[3]) : 2, allocation_ms;
	struct memory before, after;
	CUdeviceptr first;

	bytes = argc > 2 ? atoll(argv[2]) : 4096;
	REQUIRE(count > 0 && count <= MAX_BUFFERS && bytes > 0 && seconds > 0);
	tk_start();
	CK(cuMemAlloc(&first, (size_t)bytes));
	launch_empty(tk_kernel("k_flip"), first);
	before = memory_used();
	allocation_ms = allocate(count, size_of);
	after = memory_used();
	printf("buffers=%d buffer_bytes=%lld host_bytes=%.1f device_bytes=%.1f alloc_us=%.2f", count, bytes,
	       (double)(after.host - before.host) / count, (double)(after.device - before.device) / count,
	       allocation_ms * 1e3 / count);
	if (gmod_get_stats)
		measure_sweeps(first, seconds);
	printf("\n");
}
