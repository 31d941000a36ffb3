/*
 * The registry: one record for each guarded buffer, in dense banks that are never unmapped.
 *
 *     FREE ──claim──► ARMING ──publish──► LIVE ──begin_release──► RELEASING ──retire──► FREE (generation + 1)
 *                        │                 ▲                          │
 *                        └──abandon──► FREE └────────reinstate────────┘  the real free failed
 *
 * Invariants
 *   A record's fields are written by its owner only: the thread that moved it to ARMING or to RELEASING.
 *   word holds generation << 2 | state. The generation changes with every retire, so (record, generation) names one
 *   buffer for ever; a reader that finds the same LIVE word before and after saw that buffer's fields.
 *   Canaries are in place before LIVE. The index knows the record exactly while it is LIVE, or RELEASING with its
 *   real free not begun: an address the driver has taken back may belong to the next buffer already.
 *   A thread that dereferences canaries of records it does not own, or hands their addresses to the driver, does so
 *   only between gmod_pin() and gmod_unpin(), and only one thread at a time does so for each enum gmod_pin (the
 *   handshake is modelled in tests/models/pin.pml):
 *
 *     sweeper                                freeing thread
 *     pin = batch            (seq_cst)       word = RELEASING              (seq_cst CAS)
 *     if word is LIVE        (seq_cst)       while pin == batch: wait      (seq_cst)
 *         load the canaries
 *     pin = none             (release)       unmap
 *
 *   The four seq_cst operations are in one total order: either the sweeper sees RELEASING, or the freeing thread
 *   sees the pin.
 *
 * Free records are on a stack of positions with a tag against ABA (tests/models/registry.pml). Where it is empty the
 * next position comes into use, and with the first of a bank the bank; nothing is ever unlinked.
 */
#ifndef GMOD_MONITOR_REGISTRY_REGISTRY_H
#define GMOD_MONITOR_REGISTRY_REGISTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/clock.h"
#include "monitor/registry/canary.h"
#include "monitor/registry/layout.h"
#include "monitor/registry/finding.h"

enum gmod_state { GMOD_FREE, GMOD_ARMING, GMOD_LIVE, GMOD_RELEASING };

/* What a sweep touches for an intact buffer: 64 bytes, one cache line. */
struct gmod_record {
	_Atomic uint64_t word;
	struct gmod_bounds bounds;
	uint32_t position;
	_Atomic uint32_t next_free; /* position + 1 of the next free record, while this one is free */
};
_Static_assert(sizeof(struct gmod_record) == 64, "a record is one cache line");

struct gmod_backend;
struct gmod_site;

/*
 * When the latest rounds of a patrol began (lib/buffers/patrol.h), those that found all as it should be. One thread
 * writes them. A round looks at the words next to each buffer and at as many in turn: all have had a turn after
 * GMOD_ROUNDS at most.
 */
enum { GMOD_ROUNDS = 64, GMOD_ROUND_WORDS = 8 };
struct gmod_rounds {
	_Atomic uint32_t latest;
	struct {
		_Atomic uint32_t number;
		_Atomic uint32_t count; /* of positions that it looked at: the driver may refuse a part of the list */
		struct gmod_stamp began;
	} round[GMOD_ROUNDS]; /* by number */
};

/* What a report needs, and what it takes to free the buffer. */
struct gmod_details {
	const struct gmod_backend *backend; /* who has its memory (lib/buffers/backend.h) */
	const char *backend_name;
	uint64_t own; /* the backend's */
	uint64_t raw; /* what the driver returned */
	uint64_t serial;
	uint64_t allocated_ns, allocated_ticks;
	_Atomic uint64_t quiet_until; /* gmod_activity_total() up to which its canaries are as they were written */
	_Atomic(void *) context;      /* struct gmod_context; lib/buffers/teardown.c looks at records it does not own */
	int64_t tid;
	int device;
	enum gmod_memory memory;
	bool at_rest;                 /* while it is freed: the free has waited for its context */
	unsigned host_flags;          /* of cuMemHostAlloc, as asked for */
	atomic_bool kept_back;        /* it has been freed: lib/buffers/quarantine.h */
	atomic_bool leaving;          /* its context is being destroyed by the thread that owns the record */
	atomic_bool exported;         /* other processes may write to it */
	struct gmod_canary canary[2]; /* by enum gmod_side */
	struct gmod_stamp slack[2];   /* when a side's slack was last seen intact; 0: when allocated */
	/* The rounds that look behind the buffer, where it has no zones, and the last of them: UINT32_MAX: they go on.
	 */
	_Atomic(const struct gmod_rounds *) patrolled;
	_Atomic uint32_t patrolled_to;
	/* The last for the buffer of that serial number, which is no longer looked at because it was changed. */
	_Atomic uint32_t struck_to;
	_Atomic uint64_t struck_serial;
	const char *name;          /* of a range of the program's own pool; NULL: it is none */
	struct gmod_site *site;    /* one of a sample (lib/base/sampler.h); NULL: it is not */
	_Atomic uint32_t reported; /* bit by enum gmod_side: it has had its finding (monitor/watch/damage.c) */
	struct gmod_stack stack;
};

enum { GMOD_BANK = 1024, GMOD_BANKS = 4096, GMOD_BATCH = 16, GMOD_GATHERED = 128 };

struct gmod_registry_stats {
	uint64_t live, live_bytes; /* now */
	uint64_t live_shared;      /* of these, pinned or managed by the program: written without a driver call */
	uint64_t live_slack;       /* of these, with slack beside the body */
};

/* A free record moved to ARMING, zeroed but for its position and word; NULL when memory or positions ran out. */
struct gmod_record *gmod_record_claim(void);
/* Anybody: the word and the bounds of the LIVE buffer, consistent with each other; 0 when it is not LIVE. */
uint64_t gmod_record_snapshot(const struct gmod_record *r, struct gmod_bounds *b);
/* ARMING -> LIVE; fields, lines, details and canaries are complete. */
void gmod_record_publish(struct gmod_record *r);
/* ARMING -> FREE. */
void gmod_record_abandon(struct gmod_record *r);
/*
 * LIVE -> RELEASING if the record is still the buffer `word` (as gmod_record_live() gave it), and wait until no
 * sweeper reads its canaries; false when another thread was first.
 */
bool gmod_record_begin_release(struct gmod_record *r, uint64_t word);
/*
 * The same for the thread that tears the context down. Nobody is inside that context any more, so it waits only for
 * those that look by loads.
 */
bool gmod_record_begin_leaving(struct gmod_record *r, uint64_t word);
/* RELEASING -> LIVE. */
void gmod_record_reinstate(struct gmod_record *r);
/* RELEASING -> ARMING with a new generation: its memory is another buffer's from now on. */
void gmod_record_renew(struct gmod_record *r, const struct gmod_bounds *b);
/* RELEASING -> FREE with a new generation. */
void gmod_record_retire(struct gmod_record *r);

/*
 * The word if the record is LIVE, else 0. The fields belong to it if the word is the same afterwards. seq_cst: not
 * before the pin that is set first; a load that is no more than acquire may be.
 */
static inline uint64_t gmod_record_live(const struct gmod_record *r)
{
	uint64_t word = atomic_load_explicit(&r->word, memory_order_seq_cst);

	return (word & 3) == GMOD_LIVE ? word : 0;
}

/* Owner only; others read them meanwhile (gmod_record_snapshot()). */
static inline void gmod_record_set_bounds(struct gmod_record *r, const struct gmod_bounds *b)
{
	/* release fence: who reads one of these, or what is written next, finds that the word is not LIVE any more */
	atomic_thread_fence(memory_order_release);
	__atomic_store_n(&r->bounds.user, b->user, __ATOMIC_RELAXED);
	__atomic_store_n(&r->bounds.size, b->size, __ATOMIC_RELAXED);
	__atomic_store_n(&r->bounds.head_from, b->head_from, __ATOMIC_RELAXED);
	__atomic_store_n(&r->bounds.head_to, b->head_to, __ATOMIC_RELAXED);
	__atomic_store_n(&r->bounds.tail_from, b->tail_from, __ATOMIC_RELAXED);
	__atomic_store_n(&r->bounds.tail_to, b->tail_to, __ATOMIC_RELAXED);
}

/* What a report says of the buffer; the caller owns the record or holds a pin on it, or looks at its word again. */
struct gmod_buffer_facts gmod_record_facts(const struct gmod_record *r);

/* Of the live buffer there, if the program has it still. Under the sweep's lock, whose pin it takes. */
bool gmod_live_facts_at(uint32_t position, struct gmod_buffer_facts *out);

/* Where records lie, by position; zoned: how many live ones of a batch have zones. Each bank is set once, before
 * a record of it is claimed. */
struct gmod_bank {
	struct gmod_record record[GMOD_BANK];
	struct gmod_lines lines[GMOD_BANK];
	struct gmod_details details[GMOD_BANK];
	_Atomic uint16_t zoned[GMOD_BANK / GMOD_BATCH];
};
extern _Atomic(struct gmod_bank *) gmod_banks[GMOD_BANKS];

static inline struct gmod_bank *gmod_bank_of(uint32_t position)
{
	return atomic_load_explicit(&gmod_banks[position / GMOD_BANK], memory_order_acquire);
}

static inline struct gmod_record *gmod_record_at(uint32_t position)
{
	return &gmod_bank_of(position)->record[position % GMOD_BANK];
}

/* Of the batch around the position: without, loads have nothing to look at there. */
static inline _Atomic uint16_t *gmod_zoned_of(uint32_t position)
{
	return &gmod_bank_of(position)->zoned[position % GMOD_BANK / GMOD_BATCH];
}

static inline bool gmod_is_zoned(uint32_t position)
{
	return atomic_load_explicit(gmod_zoned_of(position), memory_order_relaxed);
}

static inline struct gmod_lines *gmod_record_lines(const struct gmod_record *r)
{
	return &gmod_bank_of(r->position)->lines[r->position % GMOD_BANK];
}

static inline struct gmod_details *gmod_record_details(const struct gmod_record *r)
{
	return &gmod_bank_of(r->position)->details[r->position % GMOD_BANK];
}

/* All records that are in use, or ever were, are below this position. */
uint32_t gmod_registry_used(void);
void gmod_registry_stats(struct gmod_registry_stats *out);

/*
 * Who may look: the holder of the sweep lock by loads; the holder of the gather's lock, the one that looks at what is
 * stream-ordered (lib/buffers/ordered.h), the one that lets peers in (lib/buffers/peers.c), and the one that looks at a
 * suspect's launch (lib/buffers/confirm.c), through driver calls;
 * and by loads the one thread that ends the process, which may have interrupted a holder.
 */
enum gmod_pin {
	GMOD_PIN_SWEEP,
	GMOD_PIN_GATHER,
	GMOD_PIN_ORDERED,
	GMOD_PIN_PEERS,
	GMOD_PIN_CONFIRM,
	GMOD_PIN_EXIT,
	GMOD_PIN_COUNT
};

/*
 * Announce that the records of the batch around `position` may be looked at: GMOD_BATCH of them, for the gather
 * GMOD_GATHERED, aligned.
 */
void gmod_pin(enum gmod_pin who, uint32_t position);
void gmod_unpin(enum gmod_pin who);

#endif
