#include "lib/base/counters.h"

struct gmod_counters gmod_counters;

void gmod_counters_read(struct gmod_counts *out)
{
#define GMOD_COUNTER(name, key, clause) out->name = atomic_load_explicit(&gmod_counters.name, memory_order_relaxed);
#include "lib/base/counters.def"
}
