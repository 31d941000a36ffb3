#include "lib/buffers/ordered_block.h"

#include "lib/base/facts.h"
#include "lib/base/lock.h"
#include "monitor/launches/proof.h"

struct gmod_block gmod_blocks[GMOD_LOOKS];
_Atomic uint64_t gmod_range_starts[GMOD_LOOKS];
_Atomic uint32_t gmod_blocks_used, gmod_blocks_awaited, gmod_blocks_left;
atomic_flag gmod_blocks_lock = ATOMIC_FLAG_INIT;
static uint32_t free_blocks[GMOD_LOOKS], free_count;

struct gmod_block *gmod_block_take(void)
{
	uint32_t i = GMOD_LOOKS;

	if (!gmod_lock(&gmod_blocks_lock))
		return NULL;
	if (free_count)
		i = free_blocks[--free_count];
	else if (atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed) < GMOD_LOOKS)
		i = atomic_fetch_add_explicit(&gmod_blocks_used, 1, memory_order_relaxed);
	gmod_unlock(&gmod_blocks_lock);
	return i < GMOD_LOOKS ? &gmod_blocks[i] : NULL;
}

static void drop_event(struct gmod_block *b)
{
	CUstreamCaptureMode mode;

	if (b->behind && gmod_block_context(b) && gmod_context_use_begin(b->context)) {
		mode = gmod_relaxed_begin();
		NEXT(cuEventDestroy_v2)(b->behind);
		gmod_relaxed_end(mode);
		gmod_context_use_end(b->context);
	}
	b->behind = NULL;
}

void gmod_block_give(struct gmod_block *b)
{
	bool locked;

	drop_event(b);
	atomic_store_explicit(&gmod_range_starts[gmod_place_of(b)], 0, memory_order_relaxed);
	locked = gmod_lock(&gmod_blocks_lock);
	gmod_block_set_state(b, GMOD_NO_BLOCK);
	b->stream = 0;
	if (!locked)
		return;
	free_blocks[free_count++] = gmod_place_of(b);
	gmod_unlock(&gmod_blocks_lock);
}

void gmod_block_retire(struct gmod_block *b)
{
	struct gmod_record *r = b->record;

	gmod_block_give(b);
	gmod_record_retire(r);
}

bool gmod_block_is_armed(const struct gmod_block *b)
{
	int state = gmod_block_state(b);

	return (state == GMOD_ARMED || state == GMOD_LEFT) &&
	       (!b->armed || gmod_proven(gmod_handle(gmod_block_context(b)), b->stream, b->armed));
}

bool gmod_block_is_filled(const struct gmod_block *b)
{
	CUstreamCaptureMode mode;
	CUresult r;

	if (gmod_block_is_armed(b) || !b->behind)
		return gmod_block_is_armed(b);
	mode = gmod_relaxed_begin();
	r = NEXT(cuEventQuery)(b->behind);
	gmod_relaxed_end(mode);
	return r == CUDA_SUCCESS;
}

uint64_t gmod_blocks_extra(CUmemoryPool pool)
{
	uint64_t sum = 0;

	if (!gmod_lock(&gmod_blocks_lock))
		return 0;
	for (uint32_t i = 0; i < atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed); i++) {
		const struct gmod_block *b = &gmod_blocks[i];

		if (gmod_block_is_held(b) && b->pool == pool)
			sum += b->extra;
	}
	gmod_unlock(&gmod_blocks_lock);
	return sum;
}
