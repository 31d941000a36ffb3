#include "lib/base/keep.h"

#include <stdatomic.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/map.h"

#define ARENA ((size_t)64 << 20)

enum { LISTS = 8192 };

static _Atomic(struct gmod_kept *) all_kept[LISTS];

/* Address space is reserved at once and costs nothing until it is used. */
static _Atomic(char *) arena;
static _Atomic size_t arena_used;

static char *arena_base(void)
{
	char *base = atomic_load_explicit(&arena, memory_order_acquire);
	char *fresh = base ? base : gmod_map(ARENA);

	if (base || !fresh ||
	    atomic_compare_exchange_strong_explicit(&arena, &base, fresh, memory_order_acq_rel, memory_order_acquire))
		return fresh;
	munmap(fresh, ARENA);
	return base;
}

void *gmod_keep_room(size_t size)
{
	char *base = arena_base();
	size_t at;

	size = (size + 15) & ~(size_t)15;
	if (!base || atomic_load_explicit(&arena_used, memory_order_relaxed) > ARENA - size)
		return NULL;
	at = atomic_fetch_add_explicit(&arena_used, size, memory_order_relaxed);
	return at <= ARENA - size ? base + at : NULL;
}

size_t gmod_keep_used(void)
{
	return atomic_load_explicit(&arena_used, memory_order_relaxed);
}

static struct gmod_kept *find_kept(struct gmod_kept *k, uint64_t hash, const void *bytes, size_t size)
{
	while (k && (k->hash != hash || k->size != size || memcmp(k->bytes, bytes, size) != 0))
		k = k->next;
	return k;
}

const struct gmod_kept *gmod_keep(const void *bytes, size_t size)
{
	uint64_t hash = gmod_hash_quick(0, bytes, size);
	_Atomic(struct gmod_kept *) *list = &all_kept[(gmod_hash(hash) >> 40) % LISTS];
	/* acquire: what is in a list is complete */
	struct gmod_kept *first = atomic_load_explicit(list, memory_order_acquire);
	struct gmod_kept *found = find_kept(first, hash, bytes, size), *k;

	if (found || !(k = gmod_keep_room(sizeof(*k) + size + 1)))
		return found;
	k->hash = hash;
	k->size = size;
	memcpy(k->bytes, bytes, size);
	do {
		if ((found = find_kept(first, hash, bytes, size)))
			return found;
		k->next = first;
		/* release: it is complete for whoever finds it */
	} while (!atomic_compare_exchange_weak_explicit(list, &first, k, memory_order_acq_rel, memory_order_acquire));
	return k;
}
