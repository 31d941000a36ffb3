#include "monitor/launches/names.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"

enum { BUCKETS = 8192, SEEN = 4096 };
#define ARENA ((size_t)64 << 20)
#define NAME_MAX_BYTES ((size_t)4096)

/* Immutable once in its bucket; newest first. */
struct name {
	struct name *next;
	uint64_t handle, learned;
	char text[];
};

static _Atomic(struct name *) names[BUCKETS];

/* Handles a launch has found known, so that the usual launch costs one load. */
static _Atomic uint64_t seen[SEEN];

/* Address space is reserved at once and costs nothing until it is used. */
static _Atomic(char *) arena;
static _Atomic size_t arena_used;

static _Atomic(struct name *) *bucket_of(uint64_t handle)
{
	return &names[(gmod_hash(handle) >> 40) % BUCKETS];
}

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

void *gmod_names_allocate(size_t size)
{
	char *base = arena_base();
	size_t at;

	size = (size + 15) & ~(size_t)15;
	if (!base || atomic_load_explicit(&arena_used, memory_order_relaxed) > ARENA - size)
		return NULL;
	at = atomic_fetch_add_explicit(&arena_used, size, memory_order_relaxed);
	return at <= ARENA - size ? base + at : NULL;
}

static const struct name *newest(uint64_t handle)
{
	const struct name *n = atomic_load_explicit(bucket_of(handle), memory_order_acquire);

	while (n && n->handle != handle)
		n = n->next;
	return n;
}

void gmod_name_learn(uint64_t handle, const char *text)
{
	_Atomic(struct name *) *bucket = bucket_of(handle);
	const struct name *known = newest(handle);
	size_t length = strnlen(text, NAME_MAX_BYTES);
	struct name *n;

	if (known && !strncmp(known->text, text, NAME_MAX_BYTES))
		return;
	n = gmod_names_allocate(sizeof(*n) + length + 1);
	if (!n)
		return;
	memcpy(n->text, text, length);
	n->text[length] = '\0';
	n->handle = handle;
	n->learned = gmod_ticks();
	n->next = atomic_load_explicit(bucket, memory_order_relaxed);
	/* release: the name is complete for whoever finds it */
	while (!atomic_compare_exchange_weak_explicit(bucket, &n->next, n, memory_order_release, memory_order_relaxed))
		;
}

bool gmod_name_known(uint64_t handle)
{
	_Atomic uint64_t *here = &seen[(gmod_hash(handle) >> 40) % SEEN];

	if (atomic_load_explicit(here, memory_order_relaxed) == handle)
		return true;
	if (!newest(handle))
		return false;
	atomic_store_explicit(here, handle, memory_order_relaxed);
	return true;
}

const char *gmod_name_of(uint64_t handle, uint64_t ticks)
{
	const struct name *oldest = NULL;

	for (const struct name *n = newest(handle); n; n = n->next) {
		if (n->handle != handle)
			continue;
		if (n->learned <= ticks)
			return n->text;
		oldest = n;
	}
	/* Learned after the launch was stamped, by the launch itself. */
	return oldest ? oldest->text : NULL;
}

bool gmod_same_name(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}
