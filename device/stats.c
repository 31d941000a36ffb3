#include "device/stats.h"

#include <stdlib.h>

#include "device/heaps.h"
#include "lib/base/facts.h"
#include "lib/base/counters.h"

#define BYTES_MAX ((uint64_t)1 << 48) /* native heaps have no limit that is known here */

/* Of what kernels may have overwritten, no more than there can be. */
static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

static void count_header(const struct gmod_heap *h, const struct gmod_device_heap *d, struct gmod_device_stats *s)
{
	uint64_t most = h->memory.size / sizeof(struct gmod_entry);

	s->heap_bytes = h->memory.size;
	s->committed_bytes = h->memory.committed;
	s->used_bytes = at_most((uint64_t)d->used << GMOD_CHUNK_BITS, h->memory.committed);
	s->peak_bytes = at_most((uint64_t)d->peak << GMOD_CHUNK_BITS, h->memory.committed);
	s->live_buffers = at_most(d->live, most);
	s->live_bytes = at_most(d->live_bytes, BYTES_MAX);
	s->high_water_buffers = at_most(d->live_peak, most);
	s->high_water_bytes = at_most(d->live_bytes_peak, BYTES_MAX);
	s->failed_allocations = d->failed;
	s->reclaims = d->reclaims;
	s->findings = d->findings;
	s->findings_lost = d->findings_lost;
	s->passes = d->pass;
}

static void count_arrays(const struct gmod_heap *h, const struct gmod_array *a, struct gmod_device_stats *s)
{
	uint64_t most = h->memory.size / sizeof(struct gmod_entry);

	for (uint32_t i = 0; i < h->layout.arrays; i++) {
		s->waiting_buffers += at_most(a[i].waiting, most);
		s->released_buffers += at_most(a[i].released, BYTES_MAX);
		s->quarantined_buffers += at_most(a[i].quarantined, most);
	}
}

static bool read_stats(const struct gmod_heap *h, struct gmod_device_heap *header, struct gmod_array *arrays,
		       struct gmod_device_stats *out)
{
	if (!header || !arrays || !gmod_heap_read(h, h->header, header, sizeof(*header)) ||
	    !gmod_heap_read(h, h->header + h->layout.array_table, arrays, h->layout.arrays * sizeof(*arrays)))
		return false;
	count_header(h, header, out);
	count_arrays(h, arrays, out);
	return true;
}

bool gmod_heap_stats(const struct gmod_heap *h, struct gmod_device_stats *out)
{
	struct gmod_device_heap *header = malloc(sizeof(*header));
	struct gmod_array *arrays = malloc(h->layout.arrays * sizeof(*arrays));
	bool read = read_stats(h, header, arrays, out);

	free(header);
	free(arrays);
	return read;
}

void gmod_heap_update_stats(struct gmod_heap *h)
{
	struct gmod_counters *c = &gmod_counters;
	struct gmod_device_stats s = {0};
	struct gmod_stock now;

	if (!gmod_heap_stats(h, &s)) {
		gmod_degraded("counting what kernels have allocated");
		return;
	}
	now = (struct gmod_stock){
	    .buffers = s.released_buffers + s.live_buffers + s.waiting_buffers + s.quarantined_buffers,
	    .left = s.live_buffers,
	    .left_bytes = s.live_bytes,
	    .lost = s.findings_lost,
	};
	/* of this heap, what has changed since it was last counted: it may be less that is left */
	gmod_count(&c->kernel_buffers, now.buffers - h->stock.buffers);
	gmod_count(&c->kernel_left, now.left - h->stock.left);
	gmod_count(&c->kernel_left_bytes, now.left_bytes - h->stock.left_bytes);
	gmod_count(&c->kernel_lost, now.lost - h->stock.lost);
	h->stock = now;
}
