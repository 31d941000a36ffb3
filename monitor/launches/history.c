#include "monitor/launches/history.h"

#include <stdbool.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"

enum { KEPT_OF_THE_PAST = 4 };

/*
 * That a handle stands for something, from a time until a time (tests/models/graph.pml):
 *
 *     until  0 ──put()──► GMOD_LATEST ──end()──► a time ──take()──► 0
 *
 * Who took it has it alone. `from` is 0 while it is written, and no two times the same: who finds one time before and
 * after has read what belongs together.
 */
struct gmod_tenure {
	struct gmod_tenure *next;
	_Atomic uint64_t from, until, handle, owner;
	_Atomic(const struct gmod_kept *) what;
};

static size_t list_of(uint64_t key)
{
	return (gmod_hash(key) >> 40) % GMOD_LISTS;
}

/* That which ended first, where more than so many have ended. NULL: there is none, or others were faster. */
static struct gmod_tenure *take(struct gmod_tenure *first, unsigned more_than)
{
	struct gmod_tenure *oldest = NULL;
	uint64_t end = GMOD_LATEST;
	unsigned ended = 0;

	for (struct gmod_tenure *t = first; t; t = t->next) {
		uint64_t until = atomic_load_explicit(&t->until, memory_order_relaxed);

		ended += until && until != GMOD_LATEST;
		if (until && until < end) {
			oldest = t;
			end = until;
		}
	}
	if (ended <= more_than || !atomic_compare_exchange_strong_explicit(&oldest->until, &end, 0,
									   memory_order_acquire, memory_order_relaxed))
		return NULL;
	return oldest;
}

static struct gmod_tenure *add_to(_Atomic(struct gmod_tenure *) *list)
{
	struct gmod_tenure *t = gmod_keep_room(sizeof(*t));

	if (!t)
		return NULL;
	t->next = atomic_load_explicit(list, memory_order_acquire);
	/* release: its link, for whoever walks the list */
	while (!atomic_compare_exchange_weak_explicit(list, &t->next, t, memory_order_acq_rel, memory_order_acquire))
		;
	return t;
}

static void put(struct gmod_tenure *t, uint64_t handle, const struct gmod_kept *what, uint64_t owner, uint64_t now)
{
	atomic_store_explicit(&t->from, 0, memory_order_relaxed);
	/* release: who finds any of these finds that it is being written */
	atomic_store_explicit(&t->handle, handle, memory_order_release);
	atomic_store_explicit(&t->owner, owner, memory_order_release);
	atomic_store_explicit(&t->what, what, memory_order_release);
	atomic_store_explicit(&t->until, GMOD_LATEST, memory_order_release);
	/* release: it is complete for who finds it by the time */
	atomic_store_explicit(&t->from, now, memory_order_release);
}

/* If it began before; one that is being written has not begun. */
static void end(struct gmod_tenure *t, uint64_t until)
{
	uint64_t still = GMOD_LATEST, from = atomic_load_explicit(&t->from, memory_order_relaxed);

	if (from && from < until)
		atomic_compare_exchange_strong_explicit(&t->until, &still, until, memory_order_relaxed,
							memory_order_relaxed);
}

/* The new one first: meanwhile there are two, and the later one holds. */
void gmod_history_add(gmod_histories histories, uint64_t handle, const struct gmod_kept *what, uint64_t owner)
{
	_Atomic(struct gmod_tenure *) *list = &histories[list_of(handle)];
	struct gmod_tenure *first = atomic_load_explicit(list, memory_order_acquire), *t;
	uint64_t now = gmod_ticks();

	if (what && ((t = take(first, KEPT_OF_THE_PAST)) || (t = add_to(list)) || (t = take(first, 0))))
		put(t, handle, what, owner, now);
	/* acquire, as of the owner below: of the time with it, or a later one */
	for (t = first; t; t = t->next)
		if (atomic_load_explicit(&t->handle, memory_order_acquire) == handle)
			end(t, now);
}

void gmod_history_end(gmod_histories histories, uint64_t owner, uint64_t until)
{
	for (unsigned i = 0; i < GMOD_LISTS; i++)
		for (struct gmod_tenure *t = atomic_load_explicit(&histories[i], memory_order_acquire); t; t = t->next)
			if (owner == GMOD_ANY_OWNER || atomic_load_explicit(&t->owner, memory_order_acquire) == owner)
				end(t, until);
}

const struct gmod_kept *gmod_history_at(gmod_histories histories, uint64_t handle, uint64_t ticks, uint64_t *owner)
{
	const struct gmod_kept *what = NULL;
	uint64_t latest = 0;

	for (struct gmod_tenure *t = atomic_load_explicit(&histories[list_of(handle)], memory_order_acquire); t;
	     t = t->next) {
		/* acquire, each: it is a later one's; then so is the time */
		uint64_t from = atomic_load_explicit(&t->from, memory_order_acquire);
		uint64_t its = atomic_load_explicit(&t->handle, memory_order_acquire);
		uint64_t whose = atomic_load_explicit(&t->owner, memory_order_acquire);
		const struct gmod_kept *found = atomic_load_explicit(&t->what, memory_order_acquire);
		bool stood = ticks <= atomic_load_explicit(&t->until, memory_order_acquire);

		if (its != handle || from <= latest || from > ticks ||
		    atomic_load_explicit(&t->from, memory_order_relaxed) != from)
			continue;
		latest = from;
		what = stood ? found : NULL;
		if (owner)
			*owner = whose;
	}
	return what;
}
