/*
 * The stream-ordered buffers that are guarded, a block each: what lib/buffers/ordered.c and lib/buffers/ordered_judge.c
 * know of it.
 */
#ifndef GMOD_LIB_BUFFERS_ORDERED_BLOCK_H
#define GMOD_LIB_BUFFERS_ORDERED_BLOCK_H

#include "lib/base/sampler.h"
#include "lib/buffers/look.h"
#include "monitor/registry/registry.h"

/*
 * The life of a record in stream order, LIVE or RELEASING as others are, and what its block is meanwhile:
 *
 *     record   ARMING ──► LIVE ───────────────────────────────► RELEASING ───────────────────────► FREE
 *     block    NO_BLOCK   PENDING ──► BEING_ARMED ──► ARMED ──┬──► LOOKED_AT  its last look comes ──► NO_BLOCK
 *                            └──────────────┴──► BARE         └──► LEFT       its fill comes ─────► NO_BLOCK
 *
 * BARE: its redzone is nobody's, and nobody looks at it. LOOKED_AT: the driver has the memory. LEFT: the program has
 * freed it, and the monitor does so when the fill is done. These two are the monitor's, and so is their record.
 *
 * Up to ARMED under gmod_blocks_lock, but that the thread which made it BEING_ARMED ends that by itself.
 */
enum { GMOD_NO_BLOCK, GMOD_PENDING, GMOD_BEING_ARMED, GMOD_ARMED, GMOD_BARE, GMOD_LOOKED_AT, GMOD_LEFT };

struct gmod_block {
	atomic_int state;
	atomic_uint looks; /* on their way while it lives, or lived: its memory goes behind them */
	unsigned life;     /* of the context */
	/* Of the stream: memory of a pool is of no context, and neither the end of one nor the gather is to meet it. */
	struct gmod_context *context;
	_Atomic(struct gmod_record *) record;
	_Atomic uint64_t stream; /* its key; 0: it has ended */
	CUstream handle;
	CUmemoryPool pool;
	size_t extra;              /* bytes of the pool that it takes more than natively */
	uint8_t *lands;            /* where its looks do: pinned in its context */
	_Atomic uint64_t armed;    /* ticks when the fill was in the stream; 0: it is proven, for good */
	CUevent behind;            /* the fill, in a stream in which nobody else can ask or follow; NULL: none */
	struct gmod_moment intact; /* seen, or before it was filled; the monitor's once it is armed */
	uint64_t looked_in, looked_from, looked_to; /* struct gmod_window */
	_Atomic uint64_t seen_ns;                   /* monotonic: the latest look while it lives */
	_Atomic uint64_t seen_activity;             /* up to which that look has seen everything; UINT64_MAX: none */
	uint64_t changed_ns;                        /* ... when what came was first seen changed; 0: it was not */
};

extern struct gmod_block gmod_blocks[GMOD_LOOKS];
/* Where the ranges of the program's own pools begin that have these blocks; 0: it has none, or somebody has taken it.
 */
extern _Atomic uint64_t gmod_range_starts[GMOD_LOOKS];
extern atomic_flag gmod_blocks_lock;
extern _Atomic uint32_t gmod_blocks_used;    /* from this one on they were never taken */
extern _Atomic uint32_t gmod_blocks_awaited; /* so many are LOOKED_AT */
extern _Atomic uint32_t gmod_blocks_left;    /* so many are LEFT */

static inline unsigned gmod_place_of(const struct gmod_block *b)
{
	return (unsigned)(b - gmod_blocks);
}

static inline int gmod_block_state(const struct gmod_block *b)
{
	/* acquire: what was filled in before */
	return atomic_load_explicit(&b->state, memory_order_acquire);
}

static inline void gmod_block_set_state(struct gmod_block *b, int state)
{
	atomic_store_explicit(&b->state, state, memory_order_release);
}

/* Has the program, or the monitor for it, the memory still? */
static inline bool gmod_block_is_held(const struct gmod_block *b)
{
	int state = gmod_block_state(b);

	return state != GMOD_NO_BLOCK && state != GMOD_LOOKED_AT;
}

/* The context it was made in; NULL: that has ended. */
static inline CUcontext gmod_block_context(const struct gmod_block *b)
{
	return gmod_context_life(b->context) == b->life
		   ? atomic_load_explicit(&b->context->handle, memory_order_relaxed)
		   : NULL;
}

static inline const struct gmod_canary *gmod_block_canary(const struct gmod_block *b)
{
	return &gmod_record_details(b->record)->canary[GMOD_TAIL];
}

/* As much of its redzone as is looked at. */
static inline struct gmod_range gmod_block_redzone(const struct gmod_block *b)
{
	uint64_t from = b->record->bounds.user + b->record->bounds.size, to = b->record->bounds.tail_to;

	return (struct gmod_range){from, to - from < GMOD_LOOK_BYTES ? to : from + GMOD_LOOK_BYTES};
}

/* Is it proven, by the program's own waits, that the fill is done? */
bool gmod_block_is_armed(const struct gmod_block *b);

/* For who is in its context: the same, or known by the event. */
bool gmod_block_is_filled(const struct gmod_block *b);

/* NULL: all are taken. */
struct gmod_block *gmod_block_take(void);
/* One that cannot be given back is lost. */
void gmod_block_give(struct gmod_block *b);

/* Bytes of ours among what a pool says is in use. */
uint64_t gmod_blocks_extra(CUmemoryPool pool);

/* Its record is RELEASING and the caller's: both are free. The block first, or who looks at the record finds another's.
 */
void gmod_block_retire(struct gmod_block *b);

#endif
