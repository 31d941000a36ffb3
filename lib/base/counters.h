/*
 * What the process has counted: one counter for each row of lib/base/counters.def. From any thread; relaxed, because a
 * count orders nothing.
 */
#ifndef GMOD_LIB_BASE_COUNTERS_H
#define GMOD_LIB_BASE_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

struct gmod_counters {
#define GMOD_COUNTER(name, key, clause) _Atomic uint64_t name;
#include "lib/base/counters.def"
};
extern struct gmod_counters gmod_counters;

/* The same as plain numbers. */
struct gmod_counts {
#define GMOD_COUNTER(name, key, clause) uint64_t name;
#include "lib/base/counters.def"
};

static inline void gmod_count(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

void gmod_counters_read(struct gmod_counts *out);

#endif
