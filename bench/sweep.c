/*
 * What a sweep costs the CPU, and what GMOD keeps for a buffer. No GPU, no driver: records over ordinary memory, laid
 * out and armed as lib/buffers/buffer.c does it, and the sweep that the monitor runs.
 *
 *	sweep BUFFERS [allocated|shuffled [MIB]]
 *
 * A sweep reads, of each buffer, the last cache line of the page before it and the first of the page behind it, and
 * three lines of the registry's; a few buffers have their turn to be looked at whole. So each buffer has a head page
 *and a tail page of its own here, as with the unified backend: two cache lines and two entries of the TLB that no other
 *buffer shares. Pages could only be shared between buffers by sharing the very lines, which are always at the same
 *place in a page, and that would leave a sweep less to fetch. Instead BUFFERS is cut down to what has room in MIB
 *(2048) of canary pages, and both numbers are printed. Pages are small ones, as those of managed memory are for the
 *CPU.
 *
 * Bodies take turns at four sizes from 4 KiB to 256 KiB and are address space only: nothing in a sweep touches them,
 * but they keep the pages apart, also in the tables of the MMU. They are whole pages, so there is no slack to write on
 * a device. Buffers lie in the order of their records (allocated), or in any (shuffled), as in a heap that has been in
 * use for a while.
 *
 * Sweeps are timed one by one, in CPU time, which is what max_cpu limits, at two paces:
 *	continuous	one right after another, as with scan_interval_us=0; what the caches can hold, they hold
 *	spaced		as far apart as the monitor spaces them by default, so that they take 2 % of a core; meanwhile
 *			as much memory is read as fills the caches and the TLB with something else. From 10 000 buffers
 *			on: with fewer there is not the time for that, and how many buffers a sweep looks at whole
 *			goes by the time since the last one
 *
 * The two lines of each buffer are also read alone, in the same order, by loads of addresses from one array and nothing
 * else: what the memory and the MMU take for them, below which no sweep in that order can be.
 *
 * Memory is the growth of the resident set while the buffers are armed, with the canary pages there before; the tables
 * of the MMU are not in it. Allocating and freeing is GMOD's own work on a record that was in use before, without the
 * driver's calls and the call stack, of 10 000 buffers at most; most of it is writing and verifying canaries, which is
 * also timed alone.
 *
 * Prints key=value lines, or one that begins with FAIL. Exit status: 0, 1 failed, 2 usage.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "monitor/registry/layout.h"
#include "lib/base/phase.h"
#include "lib/base/facts.h"
#include "lib/life/start.h"
#include "monitor/launches/launch.h"
#include "monitor/registry/index.h"
#include "monitor/watch/sweep.h"
#include "monitor/watch/verify.h"

enum { MAX_BUFFERS = GMOD_BANK * GMOD_BANKS, MAX_MIB = 1 << 20 };
enum { SPACED_FROM = 10000, BOOKKEEPING_OF = 10000, ROUNDS = 3, WARM_UP = 3, MAX_SWEEPS = 2000 };

static const size_t body_sizes[] = {4 << 10, 16 << 10, 64 << 10, 256 << 10};

struct buffer {
	struct gmod_record *record;
	struct gmod_place place;
	size_t size, total;
};

static struct buffer *buffers;
static size_t count;
static uint64_t (*beside)[2]; /* the lines on both sides of each buffer */
static char *other;           /* what caches are filled with between two spaced sweeps */
static size_t other_size;

static void fail(const char *what)
{
	printf("FAIL %s\n", what);
	fflush(stdout);
	_exit(1);
}

/* gmod_start() wants a loaded driver. This one has no entry points: every call of it fails. */
void *dlopen(const char *file, int mode)
{
	return dlmopen(LM_ID_BASE, file && !strcmp(file, "libcuda.so.1") ? "libc.so.6" : file, mode);
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- memory ---- */

static void *reserve(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		fail("no address space");
	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

static uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	uint64_t kib = 0;
	char line[128];

	if (!f)
		fail("no /proc/self/smaps_rollup");
	while (!kib && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Rss:", 4))
			kib = strtoull(line + 4, NULL, 10);
	fclose(f);
	return kib << 10;
}

static void place_buffers(bool shuffled)
{
	size_t page = gmod_page_size(), kinds = sizeof(body_sizes) / sizeof(*body_sizes), sum = 0;
	struct gmod_layout layout;
	uint64_t seed = 1, raw;

	for (size_t i = 0; i < count; i++) {
		buffers[i].size = body_sizes[i % kinds];
		if (!gmod_layout_device(buffers[i].size, page, &layout))
			fail("no layout");
		buffers[i].total = layout.total;
		sum += layout.total;
	}
	raw = (uint64_t)(uintptr_t)reserve(sum);
	for (size_t i = 0; i < count; raw += buffers[i++].total) {
		if (!gmod_layout_device(buffers[i].size, page, &layout))
			fail("no layout");
		gmod_layout_place(&layout, buffers[i].size, raw, &buffers[i].place);
		/* As the driver has placed the pages before the canaries are written. */
		*(volatile char *)(uintptr_t)buffers[i].place.zone_head = 0;
		*(volatile char *)(uintptr_t)buffers[i].place.zone_tail = 0;
	}
	for (size_t i = count; shuffled && i > 1; i--) {
		struct buffer one = buffers[i - 1];
		size_t k;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		k = (seed >> 32) * i >> 32;
		buffers[i - 1] = buffers[k];
		buffers[k] = one;
	}
}

/* In the order of the records. */
static void note_lines(void)
{
	beside = reserve(count * sizeof(*beside));
	for (size_t i = 0; i < count; i++) {
		beside[i][GMOD_HEAD] = buffers[i].place.body - GMOD_LINE;
		beside[i][GMOD_TAIL] = buffers[i].place.zone_tail;
	}
}

/* ---- buffers, as lib/buffers/buffer.c makes and frees them ---- */

static void write_canaries(const struct buffer *b)
{
	const struct gmod_details *d = gmod_record_details(b->record);
	const struct gmod_place *p = &b->place;

	gmod_canary_bytes(&d->canary[GMOD_HEAD], p->zone_head, p->user, (void *)p->zone_head);
	gmod_canary_bytes(&d->canary[GMOD_TAIL], p->user_end, p->end, (void *)p->user_end);
}

static void fill_details(const struct buffer *b)
{
	static uint64_t serial;
	struct gmod_details *d = gmod_record_details(b->record);
	const struct gmod_place *p = &b->place;
	struct gmod_moment when = gmod_now();

	d->raw = p->raw;
	d->serial = ++serial;
	d->allocated_ns = when.ns;
	d->allocated_ticks = when.ticks;
	d->tid = syscall(SYS_gettid);
	d->memory = GMOD_MEM_DEVICE;
	d->backend_name = "unified";
	/* The memory of a stack, not the time it takes to find one. */
	d->stack.depth = gmod_options()->stack_depth;
	memset(d->stack.pc, 0, d->stack.depth * sizeof(*d->stack.pc));
}

static void arm(struct buffer *b)
{
	const struct gmod_place *p = &b->place;
	const struct gmod_bounds bounds = {p->user, b->size, p->zone_head, p->body, p->zone_tail, p->end};
	struct gmod_details *d;

	b->record = gmod_record_claim();
	if (!b->record)
		fail("no memory for a record");
	d = gmod_record_details(b->record);
	fill_details(b);
	gmod_record_set_bounds(b->record, &bounds);
	gmod_canary_place(d->canary, gmod_hot.key, d->serial, &bounds, gmod_record_lines(b->record), NULL);
	if (!gmod_index_publish(b->record))
		fail("no memory for the index");
}

static void disarm(struct buffer *b)
{
	struct gmod_moment swept = gmod_sweep_latest();
	struct gmod_found found = gmod_index_find(b->place.user);

	if (found.record != b->record || !gmod_record_begin_release(b->record, found.word))
		fail("a buffer is not there");
	gmod_verify_released(b->record, GMOD_VERIFY_ALL, NULL, swept);
	gmod_index_remove(b->place.zone_head, b->place.end, b->record->position);
	gmod_record_retire(b->record);
}

/* Both zones whole, which is what freeing does most of the time. */
static void verify(struct buffer *b)
{
	const struct gmod_details *d = gmod_record_details(b->record);
	const struct gmod_place *p = &b->place;
	struct gmod_diff diff = {0};

	if (!gmod_canary_compare(&d->canary[GMOD_HEAD], p->zone_head, p->user, (const void *)(uintptr_t)p->zone_head,
				 &diff) ||
	    !gmod_canary_compare(&d->canary[GMOD_TAIL], p->user_end, p->end, (const void *)(uintptr_t)p->user_end,
				 &diff))
		fail("a canary is not intact");
}

static void rewrite(struct buffer *b)
{
	write_canaries(b);
}

/* ---- figures ---- */

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* One pass over all buffers; its CPU time. */
typedef uint64_t pass_fn(void);

static uint64_t sweep_once(void)
{
	uint64_t began = now(CLOCK_THREAD_CPUTIME_ID);

	if (!gmod_sweep_lock(0))
		fail("someone else sweeps");
	gmod_sweep();
	gmod_sweep_unlock();
	return now(CLOCK_THREAD_CPUTIME_ID) - began;
}

/* No load waits for another, so the CPU has as many under way as it can. */
static uint64_t read_once(void)
{
	uint64_t began = now(CLOCK_THREAD_CPUTIME_ID), sum = 0;

	for (size_t i = 0; i < count; i++) {
		sum += *(volatile uint64_t *)(uintptr_t)beside[i][GMOD_HEAD];
		sum += *(volatile uint64_t *)(uintptr_t)beside[i][GMOD_TAIL];
	}
	(void)sum;
	return now(CLOCK_THREAD_CPUTIME_ID) - began;
}

static void fill_caches(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < other_size; i += GMOD_LINE)
		sum += *(volatile uint64_t *)(other + i);
	(void)sum;
}

/* Until the sweeps take no more than max_cpu of the time. */
static void rest(uint64_t began, uint64_t cost)
{
	uint64_t until = began + cost * 100 * GMOD_PERCENT_ONE / gmod_options()->max_cpu;
	struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Another program's work, the pause that the monitor makes after a sweep of that cost, and a pass. */
static uint64_t pass_later(pass_fn *pass, uint64_t cost)
{
	uint64_t began = now(CLOCK_MONOTONIC);

	fill_caches();
	rest(began, cost);
	return pass();
}

struct passes {
	size_t count;
	uint64_t median, least, most; /* ns of CPU */
};

/* sweep: what one costs, for the pauses; 0: these passes are sweeps themselves. */
static struct passes time_passes(pass_fn *pass, bool spaced, uint64_t sweep)
{
	static uint64_t ns[MAX_SWEEPS];
	uint64_t end = now(CLOCK_MONOTONIC) + (spaced ? 4000000000u : 2000000000u);
	size_t n = 0, least = 11;
	uint64_t last = 0;

	for (int i = 0; i < WARM_UP; i++)
		last = pass();
	while (n < MAX_SWEEPS && (n < least || now(CLOCK_MONOTONIC) < end)) {
		last = spaced ? pass_later(pass, sweep ? sweep : last) : pass();
		ns[n++] = last;
	}
	qsort(ns, n, sizeof(*ns), ascending);
	return (struct passes){n, ns[n / 2], ns[0], ns[n - 1]};
}

static double each(uint64_t ns)
{
	return (double)ns / (double)count;
}

static void time_sweeps(bool spaced, const char *order)
{
	struct passes swept = time_passes(sweep_once, spaced, 0), read = time_passes(read_once, spaced, swept.median);

	if (gmod_finding_count())
		fail("a sweep has seen damage where there is none");
	printf("buffers=%zu order=%s pace=%s sweeps=%zu ns_per_buffer=%.2f least=%.2f most=%.2f us_per_sweep=%.2f "
	       "lines_alone=%.2f\n",
	       count, order, spaced ? "spaced" : "continuous", swept.count, each(swept.median), each(swept.least),
	       each(swept.most), (double)swept.median / 1000, each(read.median));
	fflush(stdout);
}

static double time_each(size_t some, void (*what)(struct buffer *))
{
	uint64_t began = now(CLOCK_THREAD_CPUTIME_ID);

	for (size_t i = 0; i < some; i++)
		what(&buffers[i]);
	return (double)(now(CLOCK_THREAD_CPUTIME_ID) - began) / (double)some;
}

static double middle(const double v[ROUNDS])
{
	double low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];

	return v[2] < low ? low : v[2] > high ? high : v[2];
}

static void time_bookkeeping(uint64_t bytes)
{
	double freed[ROUNDS], allocated[ROUNDS], written[ROUNDS], verified[ROUNDS];
	size_t some = count < BOOKKEEPING_OF ? count : BOOKKEEPING_OF;

	for (int i = 0; i < ROUNDS; i++) {
		written[i] = time_each(some, rewrite);
		verified[i] = time_each(some, verify);
		freed[i] = time_each(some, disarm);
		allocated[i] = time_each(some, arm);
	}
	printf(
	    "buffers=%zu bytes_per_buffer=%.0f record_bytes=%zu canary_page_bytes=%zu allocate_ns=%.0f write_ns=%.0f "
	    "free_ns=%.0f verify_ns=%.0f\n",
	    count, (double)bytes / (double)count,
	    sizeof(struct gmod_record) + sizeof(struct gmod_lines) + sizeof(struct gmod_details), 2 * gmod_page_size(),
	    middle(allocated), middle(written), middle(freed), middle(verified));
}

/* What was timed does find a changed byte. */
static void check_that_sweeps_look(void)
{
	struct buffer *b = &buffers[count / 2];

	*(volatile uint8_t *)(uintptr_t)b->place.zone_tail ^= 0x5f;
	sweep_once();
	if (gmod_finding_count() != 1)
		fail("a sweep has not seen a changed byte");
}

/* ---- start ---- */

static int usage(void)
{
	fprintf(stderr, "usage: sweep BUFFERS [allocated|shuffled [MIB]] (1 to %d buffers, 1 to %d MiB)\n", MAX_BUFFERS,
		MAX_MIB);
	return 2;
}

/* 0: no number from 1 to `most`. */
static size_t number(const char *text, size_t most)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	n = strtoul(text, &end, 10);
	return errno || *end || n > most ? 0 : n;
}

static void start(void)
{
	long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);

	setenv("GMOD_OPTIONS", "log_path=/dev/null", 1);
	gmod_start();
	if (!gmod_on())
		fail("GMOD does not start");
	other_size = l3 > 32 << 20 ? 2 * (size_t)l3 : 64 << 20;
	other = reserve(other_size);
	memset(other, 1, other_size);
}

int main(int argc, char **argv)
{
	size_t asked = argc > 1 ? number(argv[1], MAX_BUFFERS) : 0, mib = argc > 3 ? number(argv[3], MAX_MIB) : 2048;
	const char *order = argc > 2 ? argv[2] : "shuffled";
	bool shuffled = !strcmp(order, "shuffled");
	uint64_t before;
	size_t most;

	if (argc > 4 || !asked || !mib || (!shuffled && strcmp(order, "allocated") != 0))
		return usage();
	start();
	most = (mib << 20) / (2 * gmod_page_size());
	count = asked < most ? asked : most;
	printf("buffers=%zu asked=%zu limit_mib=%zu\n", count, asked, mib);
	buffers = reserve(count * sizeof(*buffers));
	place_buffers(shuffled);
	note_lines();
	resident_bytes();
	before = resident_bytes();
	time_each(count, arm);
	before = resident_bytes() - before;
	time_sweeps(false, order);
	if (count >= SPACED_FROM)
		time_sweeps(true, order);
	time_bookkeeping(before);
	check_that_sweeps_look();
	/* No last look at exit. */
	gmod_phase_set(GMOD_WINDING_DOWN);
	return 0;
}
