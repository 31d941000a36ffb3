/* What a device heap has counted, read from the device. */
#ifndef GMOD_HOST_DEVICE_STATS_H
#define GMOD_HOST_DEVICE_STATS_H

#include <stdbool.h>

#include "include/gmod.h"

struct gmod_heap;

/* Its context is entered and current. false: the driver refused, or no memory. */
bool gmod_heap_stats(const struct gmod_heap *h, struct gmod_device_stats *out);

/* Bring what the closing line will say of this heap up to date (struct gmod_counters). Under the guard's lock. */
void gmod_heap_update_stats(struct gmod_heap *h);

#endif
