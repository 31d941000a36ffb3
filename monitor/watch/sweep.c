#include "monitor/watch/sweep.h"

#include <pthread.h>
#include <string.h>

#include "lib/base/counters.h"
#include "lib/base/phase.h"
#include "lib/base/scope.h"
#include "monitor/launches/proof.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/verify.h"
#include "monitor/watch/swept.h"

/* ---- whose turn it is ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gmod_cancel cancel_before; /* under the lock: whether its holder could be cancelled before */
static struct gmod_stamp latest;
__thread bool gmod_is_monitor;
_Atomic unsigned gmod_progress;

bool gmod_sweep_lock(uint64_t timeout_ns)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	struct timespec until = gmod_time_in(timeout_ns);

	if (pthread_mutex_timedlock(&lock, &until)) {
		gmod_cancel_end(cancel);
		return false;
	}
	cancel_before = cancel;
	return true;
}

void gmod_sweep_unlock(void)
{
	struct gmod_cancel cancel = cancel_before;

	pthread_mutex_unlock(&lock);
	gmod_cancel_end(cancel);
}

struct gmod_moment gmod_sweep_latest(void)
{
	return gmod_stamp_get(&latest);
}

void gmod_sweep_set_latest(struct gmod_moment began)
{
	gmod_stamp_set(&latest, began);
}

/* ---- sweeps ---- */

/*
 * Records whose zones are looked at whole, for each millisecond since the last sweep (each costs some 3 us) and at most
 * in one sweep, and records passed over in search of them.
 */
enum { ROTATION_PER_MS = 1, ROTATION_MOST = 32, ROTATION_STEPS = 8192 };

/*
 * How many records ahead lines are fetched. All tail lines lie at the same place in a page, and all head lines: they
 * share a few sets of the first cache, which holds 8 to 12 of each. (With 16 a sweep over 100 000 buffers took 10 %
 * longer, with 4 it took 15 %, with 24 and 32 more again, on the Xeon beside an H200. Without fetching them a sweep
 * over 10 000 buffers after a pause took 95 ns a buffer instead of 65, the least of four runs on an EPYC of family 26.)
 */
enum { PREFETCH = 8 };

/* Plain loads, eight words at a time: the compiler may not skip any, and vectorises them. */
static bool line_equal(uint64_t at, const uint8_t expected[GMOD_LINE])
{
	uint64_t found[GMOD_LINE / 8], wanted[GMOD_LINE / 8], differ = 0;

	memcpy(found, (const void *)(uintptr_t)at, GMOD_LINE);
	memcpy(wanted, expected, GMOD_LINE);
	for (int i = 0; i < GMOD_LINE / 8; i++)
		differ |= found[i] ^ wanted[i];
	return differ == 0;
}

/* A changed line is looked at in full, and remembered as it is now: the next sweep reports what changes after that. */
static void line_changed(struct gmod_record *r, uint64_t word, enum gmod_side side, uint64_t at, uint8_t *remembered)
{
	memcpy(remembered, (const void *)(uintptr_t)at, GMOD_LINE);
	gmod_verify_pinned(r, word, side, gmod_sweep_latest());
}

static void check_record(struct gmod_record *r, uint64_t word)
{
	struct gmod_lines *lines = gmod_record_lines(r);
	uint64_t head = r->bounds.head_to - GMOD_LINE, tail = r->bounds.tail_from;

	if (!gmod_has_zones(&r->bounds))
		return;
	if (!line_equal(head, lines->head))
		line_changed(r, word, GMOD_HEAD, head, lines->head);
	if (!line_equal(tail, lines->tail))
		line_changed(r, word, GMOD_TAIL, tail, lines->tail);
}

/* A prefetch of an address that is gone does nothing: no pin is needed, nor any order. */
static void prefetch_record(uint32_t position)
{
	const struct gmod_record *r = gmod_record_at(position);
	uint64_t head = __atomic_load_n(&r->bounds.head_to, __ATOMIC_RELAXED);
	uint64_t tail = __atomic_load_n(&r->bounds.tail_from, __ATOMIC_RELAXED);
	const struct gmod_lines *lines = &gmod_bank_of(position)->lines[position % GMOD_BANK];

	__builtin_prefetch((const void *)(uintptr_t)(head - GMOD_LINE));
	__builtin_prefetch((const void *)(uintptr_t)tail);
	__builtin_prefetch(lines->head);
	__builtin_prefetch(lines->tail);
}

static void sweep_batch(uint32_t first, uint32_t end)
{
	gmod_pin(GMOD_PIN_SWEEP, first);
	for (uint32_t i = first; i < first + GMOD_BATCH; i++) {
		struct gmod_record *r = gmod_record_at(i);
		uint64_t word = gmod_record_live(r);

		if (i + PREFETCH < end)
			prefetch_record(i + PREFETCH);
		if (!word)
			continue;
		check_record(r, word);
	}
	gmod_unpin(GMOD_PIN_SWEEP);
}

/* Both sides of the buffer that has the record now, if one does. */
static void verify_record(enum gmod_pin pin, uint32_t position)
{
	struct gmod_record *r = gmod_record_at(position);
	uint64_t word;

	gmod_pin(pin, position);
	word = gmod_record_live(r);
	if (word) {
		gmod_verify_pinned(r, word, GMOD_HEAD, gmod_sweep_latest());
		gmod_verify_pinned(r, word, GMOD_TAIL, gmod_sweep_latest());
	}
	gmod_unpin(pin);
}

static uint64_t rotation_budget(struct gmod_moment now)
{
	uint64_t then = gmod_sweep_latest().ns, ms = now.ns > then ? (now.ns - then) / 1000000 : 0;

	if (ms >= ROTATION_MOST / ROTATION_PER_MS)
		return ROTATION_MOST;
	return ms ? ms * ROTATION_PER_MS : ROTATION_PER_MS;
}

/* Over a batch without zones in one go. */
static void rotate(uint32_t end, uint64_t records)
{
	static uint32_t rotation; /* whose turn it is */

	for (uint32_t step = 0; step < ROTATION_STEPS && records > 0; step++, rotation++) {
		if (rotation >= end)
			rotation = 0;
		if (!gmod_is_zoned(rotation)) {
			rotation |= GMOD_BATCH - 1;
			step += GMOD_BATCH - 1;
		} else if (gmod_record_live(gmod_record_at(rotation))) {
			verify_record(GMOD_PIN_SWEEP, rotation);
			records--;
		}
	}
}

void gmod_sweep(void)
{
	uint32_t damaged[GMOD_DAMAGES], end;
	struct gmod_moment start;
	unsigned n;

	gmod_proof_remember(); /* before the stamp of what is seen intact */
	start = gmod_now();
	end = gmod_registry_used();
	for (uint32_t first = 0; first < end; first += GMOD_BATCH)
		if (gmod_is_zoned(first))
			sweep_batch(first, end);
	if (end)
		rotate(end, rotation_budget(start));
	n = gmod_damage_open(false, damaged, GMOD_DAMAGES);
	for (unsigned i = 0; i < n; i++)
		verify_record(GMOD_PIN_SWEEP, damaged[i]);
	gmod_sweep_set_latest(start);
	gmod_count(&gmod_counters.sweeps, 1);
}

void gmod_sweep_thorough(enum gmod_pin pin)
{
	uint32_t end = gmod_registry_used();

	gmod_proof_remember();
	for (uint32_t i = 0; i < end; i++) {
		verify_record(pin, i);
		gmod_monitor_progress();
	}
}

bool gmod_sweep_all(uint64_t deadline)
{
	struct gmod_busy busy;

	if (!gmod_sweep_lock(deadline))
		return false;
	busy = gmod_busy_begin();
	if (busy.on)
		gmod_sweep_thorough(GMOD_PIN_SWEEP);
	gmod_busy_end(busy);
	gmod_sweep_unlock();
	return true;
}
