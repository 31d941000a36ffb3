#include "device/stats.h"

#include <stdlib.h>

#include "device/heaps.h"
#include "lib/base/facts.h"
#include "lib/base/counters.h"

#define COUNT_MAX ((uint64_t)1 << 48)

/* Of what kernels may have overwritten, no more than there can be. */
static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

static void count(const struct gmod_heap *h, const struct gmod_heap_state *d, struct gmod_device_stats *s)
{
	uint64_t most = h->size / (GMOD_BLOCK_MIN + GMOD_ENTRY_SIZE);

	s->heap_bytes = h->size;
	s->committed_bytes = h->size;
	s->used_bytes = at_most((uint64_t)d->used << GMOD_CHUNK_BITS, h->size);
	s->peak_bytes = at_most((uint64_t)d->peak << GMOD_CHUNK_BITS, h->size);
	s->live_buffers = at_most(d->live, most);
	s->live_bytes = at_most(d->live_bytes, h->size);
	s->high_water_buffers = at_most(d->live_peak, most);
	s->high_water_bytes = at_most(d->live_bytes_peak, h->size);
	s->failed_allocations = d->failed;
	s->damaged_entries = at_most(d->damaged, most);
	s->findings = d->findings;
	s->findings_lost = d->findings_lost;
	s->passes = d->pass;
	for (uint32_t i = 0; i < h->layout.guards; i++)
		s->waiting_buffers += at_most(d->share[i].waiting, most);
	for (uint32_t i = 0; i < GMOD_SLOTS; i++)
		s->released_buffers += at_most(d->freed[i], COUNT_MAX);
}

bool gmod_heap_stats(const struct gmod_heap *h, struct gmod_device_stats *out)
{
	struct gmod_heap_state *state = malloc(sizeof(*state));
	bool read = state && gmod_heap_read(h, h->state, state, sizeof(*state));

	if (read)
		count(h, state, out);
	free(state);
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
	    .buffers = s.released_buffers + s.live_buffers + s.waiting_buffers,
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
