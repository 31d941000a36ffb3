#include "monitor/launches/proof.h"

#include <stdatomic.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/lock.h"
#include "lib/base/scope.h"
#include "monitor/launches/kernels.h"

enum { STREAMS = 1024, EVENTS = 4096, WAYS = 8, EDGES = 8, PROBES = 16, EDGE_DEPTH = 4 };
#define NO_KEY UINT64_MAX /* of a place that is changing hands */

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
	_Atomic uint64_t looked_at;  /* proven, when the latest look at all launches began */
	_Atomic uint64_t settled;    /* ... and the one before */
	_Atomic uint64_t needed;     /* in this look, from 1, a launch that is not proven was on it; or SHARED */
	_Atomic uint32_t edge_count;
	struct triple edge[EDGES]; /* the latest waits; an overwritten one is a proof dropped */
};

#define SHARED UINT64_MAX /* what has this place is no stream, but an event that other processes may record */

static struct stream streams[STREAMS];
static _Atomic uint64_t taken[STREAMS / 64]; /* a bit for each that ever had a key: looks go to no others */

static _Atomic uint64_t looks; /* of gmod_proof_remember() at all launches, so far */
static atomic_bool unnoted;    /* something has been proven since its latest one began */
static struct triple events[EVENTS / WAYS]
			   [WAYS]; /* by handle; of more than fit into a row the latest has the first place */

/* whose: the stream of an edge, which its place may be taken from meanwhile. */
static uint64_t check_of(const uint64_t word[3], uint64_t whose)
{
	return gmod_hash(gmod_hash(gmod_hash(word[0]) + word[1]) + word[2]) ^ whose;
}

static void write_triple(struct triple *t, const uint64_t word[3], uint64_t whose)
{
	atomic_store_explicit(&t->word[1], word[1], memory_order_relaxed);
	atomic_store_explicit(&t->word[2], word[2], memory_order_relaxed);
	atomic_store_explicit(&t->check, check_of(word, whose), memory_order_relaxed);
	/* release, and last: with the old words behind it, the first one would bring back what was erased */
	atomic_store_explicit(&t->word[0], word[0], memory_order_release);
}

static bool read_triple(const struct triple *t, uint64_t word[3], uint64_t whose)
{
	/* acquire: what was written before it */
	word[0] = atomic_load_explicit(&t->word[0], memory_order_acquire);
	word[1] = atomic_load_explicit(&t->word[1], memory_order_relaxed);
	word[2] = atomic_load_explicit(&t->word[2], memory_order_relaxed);
	return word[0] && atomic_load_explicit(&t->check, memory_order_relaxed) == check_of(word, whose);
}

static void erase_triple(struct triple *t)
{
	atomic_store_explicit(&t->word[0], 0, memory_order_relaxed);
}

/*
 * Whatever its proof says of launches has been noted with them, no other launch asks for it, and no wait of its stream
 * is yet to prove something.
 */
static bool is_spare(const struct stream *s, uint64_t key)
{
	uint64_t edge[3], looked = atomic_load_explicit(&looks, memory_order_acquire);

	for (unsigned i = 0; i < EDGES; i++)
		if (read_triple(&s->edge[i], edge, key) && !gmod_proven(0, edge[EDGE_STREAM], edge[EDGE_TICKS] - 1))
			return false;
	return key != NO_KEY && atomic_load_explicit(&s->needed, memory_order_relaxed) < looked &&
	       atomic_load_explicit(&s->proven, memory_order_relaxed) ==
		   atomic_load_explicit(&s->settled, memory_order_relaxed);
}

/* One of the places from `start` on that are looked at for the key. */
static struct stream *take_place(uint64_t key, uint64_t start)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct stream *s = &streams[(start + i) % STREAMS];
		uint64_t before = atomic_load_explicit(&s->key, memory_order_acquire);

		if (!is_spare(s, before) || !atomic_compare_exchange_strong_explicit(
						&s->key, &before, NO_KEY, memory_order_acq_rel, memory_order_relaxed))
			continue;
		/* Another value: who is about to raise the old one notices, see raise_value(). */
		atomic_store_explicit(&s->proven, !atomic_load_explicit(&s->proven, memory_order_relaxed),
				      memory_order_release);
		atomic_store_explicit(&s->valid_from, 0, memory_order_relaxed);
		atomic_store_explicit(&s->key, key, memory_order_release);
		return s;
	}
	return NULL;
}

/* false: somebody else was faster, and *found says for which stream. */
static bool take_empty(struct stream *s, uint64_t *found, uint64_t key)
{
	size_t i = (size_t)(s - streams);

	if (!atomic_compare_exchange_strong_explicit(&s->key, found, key, memory_order_acq_rel, memory_order_acquire))
		return false;
	atomic_fetch_or_explicit(&taken[i / 64], UINT64_C(1) << i % 64, memory_order_relaxed);
	return true;
}

static struct stream *find(uint64_t key, bool make)
{
	uint64_t start = gmod_hash(key) >> 32;

	for (unsigned i = 0; i < PROBES; i++) {
		struct stream *s = &streams[(start + i) % STREAMS];
		uint64_t found = atomic_load_explicit(&s->key, memory_order_acquire);

		if (!found && !make)
			return NULL;
		if ((!found && take_empty(s, &found, key)) || found == key)
			return s;
	}
	return make ? take_place(key, start) : NULL;
}

static void need(uint64_t stream)
{
	struct stream *s = find(stream, false);

	if (s)
		atomic_store_explicit(&s->needed, atomic_load_explicit(&looks, memory_order_relaxed) + 1,
				      memory_order_relaxed);
}

/* One of the stream's values, unless the place has become another stream's. */
static void raise_value(struct stream *s, _Atomic uint64_t *value, uint64_t key, uint64_t ticks)
{
	uint64_t before = atomic_load_explicit(value, memory_order_acquire);

	/* release: whoever sees a proof sees what it is based on */
	while (
	    before < ticks && atomic_load_explicit(&s->key, memory_order_relaxed) == key &&
	    !atomic_compare_exchange_weak_explicit(value, &before, ticks, memory_order_acq_rel, memory_order_acquire))
		;
}

static void prove(uint64_t key, uint64_t ticks, int depth)
{
	struct stream *s = find(key, true);

	if (!s)
		return;
	raise_value(s, &s->proven, key, ticks);
	atomic_store_explicit(&unnoted, true, memory_order_release);
	for (unsigned i = 0; depth < EDGE_DEPTH && i < EDGES; i++) {
		uint64_t edge[3];

		if (read_triple(&s->edge[i], edge, key) && edge[EDGE_AFTER] < ticks && edge[EDGE_STREAM] != key)
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

/* Where the event is, or is to be. */
static struct triple *event_slot(uint64_t event)
{
	struct triple *row = events[(gmod_hash(event) >> 32) % (EVENTS / WAYS)], *empty = NULL;

	for (unsigned i = WAYS; i-- > 0;) {
		uint64_t found = atomic_load_explicit(&row[i].word[EVENT], memory_order_relaxed);

		if (found == event)
			return &row[i];
		if (!found)
			empty = &row[i];
	}
	return empty ? empty : row;
}

static bool is_shared(const struct stream *s)
{
	return s && atomic_load_explicit(&s->needed, memory_order_relaxed) == SHARED;
}

void gmod_event_recorded(uint64_t event, uint64_t stream, uint64_t began)
{
	if (is_shared(find(event, false)))
		return;
	write_triple(event_slot(event), (uint64_t[]){event, stream, began}, 0);
}

void gmod_event_forget(uint64_t event)
{
	struct triple *e = event_slot(event);

	if (atomic_load_explicit(&e->word[EVENT], memory_order_relaxed) == event)
		erase_triple(e);
}

void gmod_event_shared(uint64_t event)
{
	struct stream *s = find(event, true);

	if (s)
		atomic_store_explicit(&s->needed, SHARED, memory_order_relaxed);
	gmod_event_forget(event);
}

void gmod_event_destroyed(uint64_t event)
{
	struct stream *s = find(event, false);

	if (is_shared(s))
		atomic_store_explicit(&s->needed, 0, memory_order_relaxed);
	gmod_event_forget(event);
}

struct gmod_event_proof gmod_event_covers(uint64_t event)
{
	uint64_t found[3];

	if (!read_triple(event_slot(event), found, 0) || found[EVENT] != event)
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
	write_triple(&s->edge[count % EDGES], (uint64_t[]){ticks, covered->stream, covered->ticks}, stream);
}

/* Does what the stream had been given before a time? */
static bool follows(uint64_t stream, uint64_t before, uint64_t other, uint64_t ticks, int depth)
{
	const struct stream *s = depth < EDGE_DEPTH ? find(stream, false) : NULL;
	uint64_t edge[3];

	for (unsigned i = 0; s && i < EDGES; i++)
		if (read_triple(&s->edge[i], edge, stream) && edge[EDGE_AFTER] < before && edge[EDGE_TICKS] > ticks &&
		    (edge[EDGE_STREAM] == other ||
		     follows(edge[EDGE_STREAM], edge[EDGE_TICKS], other, ticks, depth + 1)))
			return true;
	return false;
}

bool gmod_stream_follows(uint64_t stream, uint64_t other, uint64_t ticks)
{
	return follows(stream, UINT64_MAX, other, ticks, 0);
}

bool gmod_proven(uint64_t context, uint64_t stream, uint64_t ticks)
{
	const struct stream *s = find(context ^ GMOD_KEY_CONTEXT, false);

	if (ticks == GMOD_IN_CALL)
		return false;
	if (s && ticks < atomic_load_explicit(&s->proven, memory_order_acquire))
		return true;
	s = stream ? find(stream, false) : NULL;
	return s && ticks < atomic_load_explicit(&s->proven, memory_order_acquire) &&
	       ticks > atomic_load_explicit(&s->valid_from, memory_order_relaxed);
}

/* A slot that changes hands while we look is taken as busy: the next look is soon. */
bool gmod_last_outstanding(const struct gmod_thread *t, unsigned i)
{
	const struct gmod_last_launch *last = &t->last[i];
	uint64_t stream = atomic_load_explicit(&last->stream, memory_order_acquire);
	/* acquire: the crowd's context is that of these ticks, or of later ones */
	uint64_t ticks = atomic_load_explicit(&last->ticks, memory_order_acquire);
	uint64_t context = atomic_load_explicit(&last->context, memory_order_relaxed);

	if (!stream || ticks == atomic_load_explicit(&t->last_complete[i], memory_order_relaxed))
		return false;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&last->stream, memory_order_relaxed) != stream ||
	       !gmod_proven(context, stream, ticks);
}

uint64_t gmod_activity_done(void)
{
	uint64_t total = 0;

	for (struct gmod_thread *t = gmod_threads(); t; t = t->next) {
		/* acquire: what was before it is looked at by who looks now */
		total += atomic_load_explicit(&t->activity, memory_order_acquire);
		if (gmod_thread_events(t) == atomic_load_explicit(&t->rested, memory_order_relaxed))
			continue;
		/* In this order: see gmod_launch_end(). */
		if (gmod_launch_under_way(t))
			return UINT64_MAX;
		for (unsigned i = 0; i <= GMOD_CROWD; i++)
			if (gmod_last_outstanding(t, i))
				return UINT64_MAX;
	}
	return total;
}

bool gmod_work_outstanding(void)
{
	return gmod_activity_done() == UINT64_MAX;
}

/* What was proven stays proven. What was not, a new stream of the same handle must not prove. */
void gmod_stream_destroyed(uint64_t stream)
{
	bool unproven = false;
	struct stream *s;

	for (const struct gmod_thread *t = gmod_threads(); t; t = t->next)
		for (unsigned i = 0; i <= GMOD_CROWD && !unproven; i++)
			if (i == GMOD_CROWD || atomic_load_explicit(&t->last[i].stream, memory_order_relaxed) == stream)
				unproven = gmod_last_outstanding(t, i);
	s = find(stream, unproven);
	for (unsigned i = 0; s && i < EDGES; i++)
		erase_triple(&s->edge[i]);
	if (s && unproven)
		raise_value(s, &s->valid_from, stream, gmod_ticks());
}

/* Written under the lock of gmod_proof_remember(). */
bool gmod_launch_complete(const struct gmod_thread *t, uint64_t number, uint64_t at)
{
	const struct gmod_complete *c = &t->complete[number % GMOD_RING];

	/* acquire: the time is that launch's, or a later one's */
	return atomic_load_explicit(&c->number, memory_order_acquire) == number + 1 &&
	       atomic_load_explicit(&c->since, memory_order_relaxed) <= at;
}

/* false: it is not known to be complete, and its stream keeps its place. One that is overwritten meanwhile is anything.
 */
static bool look_at_launch(struct gmod_thread *t, uint64_t number)
{
	const struct gmod_launch *l = &t->ring[number % GMOD_RING];
	struct gmod_complete *c = &t->complete[number % GMOD_RING];
	uint64_t ticks = atomic_load_explicit(&l->ticks, memory_order_acquire);
	uint64_t stream = atomic_load_explicit(&l->stream, memory_order_relaxed);

	if (atomic_load_explicit(&c->number, memory_order_relaxed) == number + 1)
		return true;
	if (ticks != GMOD_NOT_LAUNCHED &&
	    !gmod_proven(atomic_load_explicit(&l->context, memory_order_relaxed), stream, ticks)) {
		need(stream);
		return false;
	}
	/* It was not proven before this thread saw that it is. */
	gmod_ticks_after_reads();
	atomic_store_explicit(&c->since, gmod_ticks(), memory_order_relaxed);
	atomic_store_explicit(&c->number, number + 1, memory_order_release);
	return true;
}

static void look_at_thread(struct gmod_thread *t, bool any_proof)
{
	uint64_t events = gmod_thread_events(t), end = atomic_load_explicit(&t->launches, memory_order_acquire), ticks;
	uint64_t crowded = atomic_load_explicit(&t->last[GMOD_CROWD].ticks, memory_order_acquire);
	uint64_t oldest = end < GMOD_RING ? 0 : end - (GMOD_RING - 1);
	bool rests = true;

	if (events == atomic_load_explicit(&t->rested, memory_order_relaxed))
		return;
	t->settled = t->settled < oldest ? oldest : t->settled;
	for (uint64_t n = t->settled; n < end; n++)
		t->settled += look_at_launch(t, n) && n == t->settled;
	/* All of the crowd is in the ring. */
	if (t->settled == end && atomic_load_explicit(&t->crowded_from, memory_order_relaxed) >= oldest)
		atomic_store_explicit(&t->last_complete[GMOD_CROWD], crowded, memory_order_relaxed);
	for (unsigned i = 0; i <= GMOD_CROWD; i++) {
		ticks = atomic_load_explicit(&t->last[i].ticks, memory_order_relaxed);
		if (gmod_last_outstanding(t, i)) {
			need(atomic_load_explicit(&t->last[i].stream, memory_order_relaxed));
			rests = false;
		} else {
			atomic_store_explicit(&t->last_complete[i], ticks, memory_order_relaxed);
		}
	}
	/* Of one that was begun since, nothing is known. */
	rests = rests && t->settled == end && atomic_load_explicit(&t->launches, memory_order_acquire) == end;
	if (any_proof || rests)
		gmod_kernels_look(t, gmod_proven, rests);
	if (rests)
		atomic_store_explicit(&t->rested, events, memory_order_relaxed);
}

void gmod_proof_remember(void)
{
	static atomic_flag lock = ATOMIC_FLAG_INIT;
	bool any_proof;

	if (!gmod_lock(&lock))
		return;
	/* acq_rel: what has been proven is seen from here on */
	any_proof = atomic_exchange_explicit(&unnoted, false, memory_order_acq_rel);
	for (unsigned i = 0; i < STREAMS / 64; i++)
		for (uint64_t bits = atomic_load_explicit(&taken[i], memory_order_relaxed); bits; bits &= bits - 1) {
			struct stream *s = &streams[i * 64 + (unsigned)__builtin_ctzll(bits)];
			uint64_t before = atomic_load_explicit(&s->looked_at, memory_order_relaxed);

			atomic_store_explicit(&s->settled, before, memory_order_relaxed);
			atomic_store_explicit(&s->looked_at, atomic_load_explicit(&s->proven, memory_order_acquire),
					      memory_order_relaxed);
		}
	for (struct gmod_thread *t = gmod_threads(); t; t = t->next)
		look_at_thread(t, any_proof);
	/* release: what was looked at is noted */
	atomic_fetch_add_explicit(&looks, 1, memory_order_release);
	gmod_unlock(&lock);
}

void gmod_proof_remember_new(void)
{
	struct gmod_scope scope;

	if (!atomic_load_explicit(&unnoted, memory_order_relaxed))
		return;
	gmod_scope_begin(&scope);
	gmod_proof_remember();
	gmod_scope_end(&scope);
}
