#include "monitor/proof.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/lock.h"
#include "monitor/activity.h"

enum { STREAMS = 1024, EVENTS = 4096, EDGES = 8, PROBES = 16, EDGE_DEPTH = 4 };

struct edge {
	_Atomic uint64_t after, stream, ticks;
};

struct stream {
	_Atomic uint64_t key;
	_Atomic uint64_t proven;     /* launches stamped before this are complete */
	_Atomic uint64_t valid_from; /* ... if stamped after this: the handle was another stream's before */
	_Atomic uint32_t edge_count;
	struct edge edge[EDGES]; /* the latest waits; an overwritten one is a proof dropped */
};

/* Direct-mapped by handle; another event at the same place overwrites. version is odd while being written. */
struct event {
	_Atomic uint64_t version, event, stream, ticks;
};

static struct stream streams[STREAMS];
static struct event events[EVENTS];

static uint64_t mix(uint64_t x)
{
	return x * 0x9e3779b97f4a7c15u >> 32;
}

uint64_t gmod_stream_key_per_thread(uint64_t context)
{
	struct gmod_thread *t = gmod_thread_self();

	return context ^ GMOD_KEY_PER_THREAD ^ mix((uint64_t)(t ? t->tid : 0)) << 32;
}

uint64_t gmod_stream_handle(uint64_t key, uint64_t context)
{
	uint64_t low = (key ^ context) << 32 >> 32;

	return low == GMOD_KEY_LEGACY || low == GMOD_KEY_PER_THREAD ? low : key;
}

static struct stream *find(uint64_t key, bool make)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct stream *s = &streams[(mix(key) + i) % STREAMS];
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
		uint64_t after = atomic_load_explicit(&s->edge[i].after, memory_order_acquire);
		uint64_t stream = atomic_load_explicit(&s->edge[i].stream, memory_order_relaxed);
		uint64_t covered = atomic_load_explicit(&s->edge[i].ticks, memory_order_relaxed);

		/* An edge being rewritten reads 0 before or after. */
		atomic_thread_fence(memory_order_acquire);
		if (after && after < ticks && stream != key &&
		    atomic_load_explicit(&s->edge[i].after, memory_order_relaxed) == after)
			prove(stream, covered, depth + 1);
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

static struct event *event_slot(uint64_t event)
{
	return &events[mix(event) % EVENTS];
}

/* Whoever finds the slot being written by another thread lets that one win: one proof is dropped. */
static void write_event(uint64_t event, uint64_t stream, uint64_t ticks)
{
	struct event *e = event_slot(event);
	uint64_t version = atomic_load_explicit(&e->version, memory_order_relaxed);

	if ((version & 1) || !atomic_compare_exchange_strong_explicit(&e->version, &version, version + 1,
								      memory_order_acquire, memory_order_relaxed))
		return;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&e->event, event, memory_order_relaxed);
	atomic_store_explicit(&e->stream, stream, memory_order_relaxed);
	atomic_store_explicit(&e->ticks, ticks, memory_order_relaxed);
	atomic_store_explicit(&e->version, version + 2, memory_order_release);
}

void gmod_event_recorded(uint64_t event, uint64_t stream, uint64_t began)
{
	write_event(event, stream, began);
}

void gmod_event_forget(uint64_t event)
{
	struct gmod_event_proof p = gmod_event_covers(event);

	if (p.stream)
		write_event(event, 0, 0);
}

struct gmod_event_proof gmod_event_covers(uint64_t event)
{
	const struct event *e = event_slot(event);
	struct gmod_event_proof nothing = {0, 0, 0, 0};
	struct gmod_event_proof p = {.event = event,
				     .version = atomic_load_explicit(&e->version, memory_order_acquire)};
	bool same = atomic_load_explicit(&e->event, memory_order_relaxed) == event;

	p.stream = atomic_load_explicit(&e->stream, memory_order_relaxed);
	p.ticks = atomic_load_explicit(&e->ticks, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (!same || (p.version & 1) || atomic_load_explicit(&e->version, memory_order_relaxed) != p.version)
		return nothing;
	return p;
}

static bool still_stands(const struct gmod_event_proof *p)
{
	return p->stream && atomic_load_explicit(&event_slot(p->event)->version, memory_order_acquire) == p->version;
}

void gmod_prove_event(const struct gmod_event_proof *covered)
{
	if (still_stands(covered))
		prove(covered->stream, covered->ticks, 0);
}

void gmod_stream_waits(uint64_t stream, const struct gmod_event_proof *covered, uint64_t ticks)
{
	struct stream *s = still_stands(covered) ? find(stream, true) : NULL;
	struct edge *e;

	if (!s)
		return;
	e = &s->edge[atomic_fetch_add_explicit(&s->edge_count, 1, memory_order_relaxed) % EDGES];
	atomic_store_explicit(&e->after, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&e->stream, covered->stream, memory_order_relaxed);
	atomic_store_explicit(&e->ticks, covered->ticks, memory_order_relaxed);
	atomic_store_explicit(&e->after, ticks, memory_order_release);
}

void gmod_stream_destroyed(uint64_t stream)
{
	struct stream *s = find(stream, false);

	if (!s)
		return;
	for (unsigned i = 0; i < EDGES; i++)
		atomic_store_explicit(&s->edge[i].after, 0, memory_order_relaxed);
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

/* Under history_lock. Slot i of a copy belongs to streams[i]: keys never change. */
static struct {
	uint64_t taken;
	uint64_t proven[STREAMS];
} history[GMOD_PROOF_HISTORY];
static unsigned history_next;
static atomic_flag history_lock = ATOMIC_FLAG_INIT;

void gmod_proof_remember(uint64_t now)
{
	if (!gmod_lock(&history_lock))
		return;
	for (unsigned i = 0; i < STREAMS; i++)
		history[history_next].proven[i] = atomic_load_explicit(&streams[i].proven, memory_order_acquire);
	history[history_next].taken = now;
	history_next = (history_next + 1) % GMOD_PROOF_HISTORY;
	gmod_unlock(&history_lock);
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
