#include "monitor/launches/history.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"

#define ARENA ((size_t)64 << 20)
#define NO_TIME UINT64_MAX

enum { TIMES = 4 };

/* A slot for each change, over and over (tests/models/graph.pml). */
struct history {
	struct gmod_node node; /* key: the handle */
	_Atomic unsigned changes;
	struct slot {
		_Atomic uint64_t since; /* NO_TIME: the slot is empty or being written */
		_Atomic(const struct gmod_kept *) what;
	} slot[TIMES];
};

static gmod_lists all_kept;

/* Address space is reserved at once and costs nothing until it is used. */
static _Atomic(char *) arena;
static _Atomic size_t arena_used;

static char *arena_base(void)
{
	char *base = atomic_load_explicit(&arena, memory_order_acquire);
	char *fresh;

	if (base)
		return base;
	fresh = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong_explicit(&arena, &base, fresh, memory_order_acq_rel, memory_order_acquire))
		return fresh;
	munmap(fresh, ARENA);
	return base;
}

/* Zeroed memory that stays for ever. NULL: there is no room. */
static void *allocate(size_t size)
{
	char *base = arena_base();
	size_t at;

	size = (size + 15) & ~(size_t)15;
	if (!base || atomic_load_explicit(&arena_used, memory_order_relaxed) > ARENA - size)
		return NULL;
	at = atomic_fetch_add_explicit(&arena_used, size, memory_order_relaxed);
	return at <= ARENA - size ? base + at : NULL;
}

static _Atomic(struct gmod_node *) *list_of(gmod_lists lists, uint64_t key)
{
	return &lists[(gmod_hash(key) >> 40) % GMOD_LISTS];
}

/* acquire: what is in a list is complete */
static struct gmod_node *first_of(gmod_lists lists, uint64_t key)
{
	return atomic_load_explicit(list_of(lists, key), memory_order_acquire);
}

/* Put in front, unless something else has come there meanwhile: then *first is that. */
static bool add(gmod_lists lists, struct gmod_node *n, struct gmod_node **first)
{
	n->next = *first;
	/* release: it is complete for whoever finds it */
	return atomic_compare_exchange_strong_explicit(list_of(lists, n->key), first, n, memory_order_acq_rel,
						       memory_order_acquire);
}

static struct gmod_kept *find_kept(struct gmod_node *n, uint64_t key, const void *bytes, size_t size)
{
	for (; n; n = n->next) {
		struct gmod_kept *k = (struct gmod_kept *)n;

		if (n->key == key && k->size == size && memcmp(k->bytes, bytes, size) == 0)
			return k;
	}
	return NULL;
}

const struct gmod_kept *gmod_keep(const void *bytes, size_t size)
{
	uint64_t key = gmod_hash_bytes(GMOD_HASH_START, bytes, size);
	struct gmod_node *first = first_of(all_kept, key);
	struct gmod_kept *k = find_kept(first, key, bytes, size), *found;

	if (k || !(k = allocate(sizeof(*k) + size + 1)))
		return k;
	k->node.key = key;
	k->size = size;
	memcpy(k->bytes, bytes, size);
	while (!add(all_kept, &k->node, &first))
		if ((found = find_kept(first, key, bytes, size)))
			return found;
	return k;
}

static struct history *find(struct gmod_node *n, uint64_t handle)
{
	while (n && n->key != handle)
		n = n->next;
	return (struct history *)n;
}

/* NULL: there is no room. */
static struct history *make(gmod_lists histories, uint64_t handle)
{
	struct gmod_node *first = first_of(histories, handle);
	struct history *h = allocate(sizeof(*h)), *found;

	if (!h)
		return NULL;
	h->node.key = handle;
	for (unsigned i = 0; i < TIMES; i++)
		atomic_init(&h->slot[i].since, NO_TIME);
	while (!add(histories, &h->node, &first))
		if ((found = find(first, handle)))
			return found;
	return h;
}

static void put(struct slot *s, const struct gmod_kept *what, uint64_t since)
{
	/* release: who finds this slot empty finds what came into the others before */
	atomic_store_explicit(&s->since, NO_TIME, memory_order_release);
	atomic_store_explicit(&s->what, what, memory_order_release);
	/* release: it is complete for who finds it by the time */
	atomic_store_explicit(&s->since, since, memory_order_release);
}

void gmod_history_add(gmod_lists histories, uint64_t handle, const struct gmod_kept *what)
{
	struct history *known = find(first_of(histories, handle), handle);
	struct history *h = known ? known : make(histories, handle);

	if (h)
		put(&h->slot[atomic_fetch_add_explicit(&h->changes, 1, memory_order_relaxed) % TIMES], what,
		    known ? gmod_ticks() : 0);
}

/* Of a slot that is written meanwhile nothing is known. */
static const struct gmod_kept *what_in(struct slot *s, uint64_t since)
{
	const struct gmod_kept *what = atomic_load_explicit(&s->what, memory_order_acquire);

	/* it is a later one: then so is the time */
	return atomic_load_explicit(&s->since, memory_order_relaxed) == since ? what : NULL;
}

const struct gmod_kept *gmod_history_at(gmod_lists histories, uint64_t handle, uint64_t ticks)
{
	struct history *h = find(first_of(histories, handle), handle);
	uint64_t latest = NO_TIME;
	unsigned n = 0;

	for (unsigned i = 0; h && i < TIMES; i++) {
		uint64_t since = atomic_load_explicit(&h->slot[i].since, memory_order_acquire);

		if (since == NO_TIME || since > ticks || (latest != NO_TIME && since < latest))
			continue;
		latest = since;
		n = i;
	}
	return latest == NO_TIME ? NULL : what_in(&h->slot[n], latest);
}
