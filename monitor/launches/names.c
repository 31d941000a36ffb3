#include "monitor/launches/names.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"

#define ARENA ((size_t)64 << 20)
#define NAME_MAX_BYTES ((size_t)4096)

/* Immutable once in its list; newest first. */
struct name {
	struct gmod_node node; /* key: the handle */
	uint64_t learned;
	char text[];
};

static gmod_lists names;

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

static _Atomic(struct gmod_node *) *list_of(gmod_lists lists, uint64_t key)
{
	return &lists[(gmod_hash(key) >> 40) % GMOD_LISTS];
}

struct gmod_node *gmod_list_find(gmod_lists lists, uint64_t key, const struct gmod_node *after)
{
	struct gmod_node *n = after ? after->next : atomic_load_explicit(list_of(lists, key), memory_order_acquire);

	while (n && n->key != key)
		n = n->next;
	return n;
}

void gmod_list_add(gmod_lists lists, struct gmod_node *n)
{
	_Atomic(struct gmod_node *) *list = list_of(lists, n->key);

	n->next = atomic_load_explicit(list, memory_order_relaxed);
	/* release: it is complete for whoever finds it */
	while (!atomic_compare_exchange_weak_explicit(list, &n->next, n, memory_order_release, memory_order_relaxed))
		;
}

static const struct name *newest(uint64_t handle)
{
	return (const struct name *)gmod_list_find(names, handle, NULL);
}

void gmod_name_learn(uint64_t handle, const char *text)
{
	const struct name *known = newest(handle);
	size_t length = strnlen(text, NAME_MAX_BYTES);
	struct name *n;

	if (known && !strncmp(known->text, text, NAME_MAX_BYTES))
		return;
	n = gmod_names_allocate(sizeof(*n) + length + 1);
	if (!n)
		return;
	memcpy(n->text, text, length);
	n->node.key = handle;
	n->learned = gmod_ticks();
	gmod_list_add(names, &n->node);
}

const char *gmod_name_of(uint64_t handle, uint64_t ticks)
{
	const struct name *oldest = NULL;

	for (struct gmod_node *n = gmod_list_find(names, handle, NULL); n; n = gmod_list_find(names, handle, n)) {
		oldest = (const struct name *)n;
		if (oldest->learned <= ticks)
			break;
	}
	/* The oldest: learned after the launch was stamped, by the launch itself. */
	return oldest ? oldest->text : NULL;
}

bool gmod_same_name(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}
