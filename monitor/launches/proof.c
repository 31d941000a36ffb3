#include "monitor/launches/proof.h"

#include <stdatomic.h>

#include "lib/base/hash.h"
#include "lib/base/lock.h"
#include "monitor/launches/thread.h"

enum { STREAMS = 1024, EVENTS = 4096, EDGES = 8, PROBES = 16, EDGE_DEPTH = 4 };

/*
 * Words that belong together, written by plain stores, by whoever comes: a locked instruction right behind the driver's
 * doorbell would wait until that has crossed the bus. `check` is made of the others. What two writers have mixed up,
 * and what is half written, does not bear its check, and is nothing (as in the lockless tables of chess programs, Hyatt
 * and Mann 2002).
 */
struct triple {
	_Atomic uint64_t word[3], check;
};

enum { EVENT, EVENT_STREAM, EVENT_TICKS };    /* event 0: none */
enum { EDGE_AFTER, EDGE_STREAM, EDGE_TICKS }; /* after 0: none */

struct stream {
	_Atomic uint64_t key;
	_Atomic uint64_t proven;     /* launches stamped before this are complete */
	_Atomic uint64_t valid_from; /* ... if stamped after this: the handle was another stream's before */
	_Atomic uint32_t edge_count;
	struct triple edge[EDGES]; /* the latest waits; an overwritten one is a proof dropped */
};

static struct stream streams[STREAMS];
static struct triple events[EVENTS]; /* direct-mapped by handle; another event at the same place overwrites */

static uint64_t check_of(const uint64_t word[3])
{
	return gmod_hash(gmod_hash(gmod_hash(word[0]) + word[1]) + word[2]);
}

static void write_triple(struct triple *t, const uint64_t word[3])
{
	atomic_store_explicit(&t->word[1], word[1], memory_order_relaxed);
	atomic_store_explicit(&t->word[2], word[2], memory_order_relaxed);
	atomic_store_explicit(&t->check, check_of(word), memory_order_relaxed);
	/* release, and last: with the old words behind it, the first one would bring back what was erased */
	atomic_store_explicit(&t->word[0], word[0], memory_order_release);
}

static bool read_triple(const struct triple *t, uint64_t word[3])
{
	/* acquire: what was written before it */
	word[0] = atomic_load_explicit(&t->word[0], memory_order_acquire);
	word[1] = atomic_load_explicit(&t->word[1], memory_order_relaxed);
	word[2] = atomic_load_explicit(&t->word[2], memory_order_relaxed);
	return word[0] && atomic_load_explicit(&t->check, memory_order_relaxed) == check_of(word);
}

static void erase_triple(struct triple *t)
{
	atomic_store_explicit(&t->word[0], 0, memory_order_relaxed);
}

static struct stream *find(uint64_t key, bool make)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct stream *s = &streams[((gmod_hash(key) >> 32) + i) % STREAMS];
		uint64_t found = atomic_load_explicit(&s->key, memory_order_acquire);

		if (!found && !make)
			return NULL;
		if (!found)
			atomic_compare_exchange_strong_explicit(&s->key, &found, key, memory_order_acq_rel,
								memory_order_acquire);
		if (found == key || (!found && make))
			return s;
	}
	return NULL;
}

static void raise_to(_Atomic uint64_t *value, uint64_t ticks)
{
	uint64_t before = atomic_load_explicit(value, memory_order_relaxed);

	/* release: whoever sees the proof sees what it is based on */
	while (before < ticks && !atomic_compare_exchange_weak_explicit(value, &before, ticks, memory_order_release,
									memory_order_relaxed))
		;
}

static void prove(uint64_t key, uint64_t ticks, int depth)
{
	struct stream *s = find(key, true);

	if (!s)
		return;
	raise_to(&s->proven, ticks);
	if (depth >= EDGE_DEPTH)
		return;
	for (unsigned i = 0; i < EDGES; i++) {
		uint64_t edge[3];

		if (read_triple(&s->edge[i], edge) && edge[EDGE_AFTER] < ticks && edge[EDGE_STREAM] != key)
			prove(edge[EDGE_STREAM], edge[EDGE_TICKS], depth + 1);
	}
}

void gmod_prove_stream(uint64_t stream, uint64_t ticks)
{
	prove(stream, ticks, 0);
}

void gmod_prove_context(uint64_t context, uint64_t ticks)
{
	prove(context ^ GMOD_KEY_CONTEXT, ticks, EDGE_DEPTH);
}

static struct triple *event_slot(uint64_t event)
{
	return &events[(gmod_hash(event) >> 32) % EVENTS];
}

void gmod_event_recorded(uint64_t event, uint64_t stream, uint64_t began)
{
	write_triple(event_slot(event), (uint64_t[]){event, stream, began});
}

void gmod_event_forget(uint64_t event)
{
	struct triple *e = event_slot(event);

	if (atomic_load_explicit(&e->word[EVENT], memory_order_relaxed) == event)
		erase_triple(e);
}

struct gmod_event_proof gmod_event_covers(uint64_t event)
{
	uint64_t found[3];

	if (!read_triple(event_slot(event), found) || found[EVENT] != event)
		return (struct gmod_event_proof){0};
	return (struct gmod_event_proof){event, found[EVENT_STREAM], found[EVENT_TICKS]};
}

static bool still_stands(const struct gmod_event_proof *p)
{
	struct gmod_event_proof now = gmod_event_covers(p->event);

	return p->stream && now.stream == p->stream && now.ticks == p->ticks;
}

void gmod_prove_event(const struct gmod_event_proof *covered)
{
	if (still_stands(covered))
		prove(covered->stream, covered->ticks, 0);
}

void gmod_stream_waits(uint64_t stream, const struct gmod_event_proof *covered, uint64_t ticks)
{
	struct stream *s = still_stands(covered) ? find(stream, true) : NULL;
	uint32_t count;

	if (!s)
		return;
	/* No increment of a count that several threads may write: the place of one wait may go to another. */
	count = atomic_load_explicit(&s->edge_count, memory_order_relaxed);
	atomic_store_explicit(&s->edge_count, count + 1, memory_order_relaxed);
	write_triple(&s->edge[count % EDGES], (uint64_t[]){ticks, covered->stream, covered->ticks});
}

void gmod_stream_destroyed(uint64_t stream)
{
	struct stream *s = find(stream, false);

	if (!s)
		return;
	for (unsigned i = 0; i < EDGES; i++)
		erase_triple(&s->edge[i]);
	raise_to(&s->valid_from, gmod_ticks());
}

static bool is_proven(uint64_t proven, uint64_t valid_from, uint64_t ticks)
{
	return ticks < proven && ticks > valid_from;
}

bool gmod_proven(uint64_t context, uint64_t stream, uint64_t ticks)
{
	const struct stream *s = find(context ^ GMOD_KEY_CONTEXT, false);

	if (ticks == GMOD_IN_CALL)
		return false;
	if (s && ticks < atomic_load_explicit(&s->proven, memory_order_acquire))
		return true;
	s = stream ? find(stream, false) : NULL;
	return s && is_proven(atomic_load_explicit(&s->proven, memory_order_acquire),
			      atomic_load_explicit(&s->valid_from, memory_order_relaxed), ticks);
}

/* A slot that changes hands while we look is taken as busy: the next look is soon. */
static bool slot_outstanding(const struct gmod_last_launch *last)
{
	uint64_t stream = atomic_load_explicit(&last->stream, memory_order_acquire);
	uint64_t context = atomic_load_explicit(&last->context, memory_order_relaxed);
	uint64_t ticks = atomic_load_explicit(&last->ticks, memory_order_relaxed);

	if (!stream)
		return false;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&last->stream, memory_order_relaxed) != stream ||
	       !gmod_proven(context, stream, ticks);
}

static bool thread_outstanding(const struct gmod_thread *t)
{
	uint64_t crowded = atomic_load_explicit(&t->crowded_ticks, memory_order_acquire);

	if (gmod_launch_under_way(t))
		return true;
	if (crowded && !gmod_proven(atomic_load_explicit(&t->crowded_context, memory_order_relaxed), 0, crowded))
		return true;
	for (unsigned i = 0; i < GMOD_STREAMS_PER_THREAD; i++)
		if (slot_outstanding(&t->last[i]))
			return true;
	return false;
}

bool gmod_work_outstanding(void)
{
	for (struct gmod_thread *t = gmod_threads(); t; t = t->next)
		if (thread_outstanding(t))
			return true;
	return false;
}

/* Under history_lock. Slot i of a copy belongs to streams[i]: keys never change. */
static struct {
	uint64_t taken;
	uint64_t proven[STREAMS];
} history[GMOD_PROOF_HISTORY];
static unsigned history_next;
static atomic_flag history_lock = ATOMIC_FLAG_INIT;

uint64_t gmod_proof_remember(void)
{
	uint64_t taken;

	if (!gmod_lock(&history_lock))
		return 0;
	for (unsigned i = 0; i < STREAMS; i++)
		history[history_next].proven[i] = atomic_load_explicit(&streams[i].proven, memory_order_acquire);
	/* What became proven while this thread was kept from copying was not before: stamped earlier, it would be. */
	atomic_thread_fence(memory_order_seq_cst);
	taken = gmod_ticks();
	history[history_next].taken = taken;
	history_next = (history_next + 1) % GMOD_PROOF_HISTORY;
	gmod_unlock(&history_lock);
	return taken;
}

static const uint64_t *proofs_at(uint64_t at)
{
	int best = -1;

	for (int i = 0; i < GMOD_PROOF_HISTORY; i++)
		if (history[i].taken && history[i].taken <= at && (best < 0 || history[i].taken > history[best].taken))
			best = i;
	return best < 0 ? NULL : history[best].proven;
}

/* What the copy held for a stream; 0 when there is no copy that old, or no such stream. */
static uint64_t proven_at(uint64_t at, const struct stream *s)
{
	const uint64_t *proven;
	uint64_t ticks;

	if (!s)
		return 0;
	if (!gmod_lock(&history_lock))
		return 0;
	proven = proofs_at(at);
	ticks = proven ? proven[s - streams] : 0;
	gmod_unlock(&history_lock);
	return ticks;
}

bool gmod_was_proven(uint64_t at, uint64_t context, uint64_t stream, uint64_t ticks)
{
	const struct stream *s = find(stream, false);

	if (ticks == GMOD_IN_CALL)
		return false;
	if (ticks < proven_at(at, find(context ^ GMOD_KEY_CONTEXT, false)))
		return true;
	return s && is_proven(proven_at(at, s), atomic_load_explicit(&s->valid_from, memory_order_relaxed), ticks);
}
