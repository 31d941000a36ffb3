#include "lib/buffers/small_cache.h"

/* By context, in any order. */
static struct cache {
	_Atomic unsigned count;
	_Atomic uint64_t raw[GMOD_SMALL_CACHE]; /* 0: none */
} caches[GMOD_CONTEXTS];

static struct cache *of(const struct gmod_context *c)
{
	return &caches[gmod_context_index(c)];
}

unsigned gmod_small_cached(const struct gmod_context *c)
{
	return atomic_load_explicit(&of(c)->count, memory_order_relaxed);
}

uint64_t gmod_small_take(const struct gmod_context *c)
{
	for (unsigned i = 0; gmod_small_cached(c) && i < GMOD_SMALL_CACHE; i++) {
		uint64_t raw = atomic_exchange_explicit(&of(c)->raw[i], 0, memory_order_acquire);

		if (!raw)
			continue;
		atomic_fetch_sub_explicit(&of(c)->count, 1, memory_order_relaxed);
		return raw;
	}
	return 0;
}

bool gmod_small_put(const struct gmod_context *c, uint64_t raw)
{
	for (unsigned i = 0; i < GMOD_SMALL_CACHE; i++) {
		uint64_t none = 0;

		/* Counted first: whoever takes it subtracts. */
		atomic_fetch_add_explicit(&of(c)->count, 1, memory_order_relaxed);
		if (atomic_compare_exchange_strong_explicit(&of(c)->raw[i], &none, raw, memory_order_release,
							    memory_order_relaxed))
			return true;
		atomic_fetch_sub_explicit(&of(c)->count, 1, memory_order_relaxed);
	}
	return false;
}
