#include "monitor/registry/registry.h"

#include <stddef.h>
#include <string.h>

#include "lib/base/deadline.h"
#include "lib/base/map.h"
#include "lib/base/sampler.h"

_Atomic(struct gmod_bank *) gmod_banks[GMOD_BANKS];
static _Atomic uint32_t used;

/* Stack of free records: tag << 32 | position + 1. The tag changes with every pop, so a stale head cannot match. */
static _Atomic uint64_t free_stack;

static _Atomic uint64_t live, live_bytes, live_shared, live_slack;

/* Batch number + 1 that each may look at now, 0 for none. On a line of their own: freeing threads spin on them. */
static _Alignas(64) _Atomic uint32_t pinned[GMOD_PIN_COUNT];
static const uint32_t batch_size[] = {GMOD_BATCH, GMOD_GATHERED, GMOD_BATCH, GMOD_BATCH, GMOD_BATCH, GMOD_BATCH};
_Static_assert(sizeof(batch_size) == GMOD_PIN_COUNT * sizeof(batch_size[0]), "one for each pin");

static struct gmod_record *pop_free(void)
{
	uint64_t head = atomic_load_explicit(&free_stack, memory_order_acquire);
	struct gmod_record *r;
	uint64_t next;

	do {
		if (!(uint32_t)head)
			return NULL;
		/* The record may be popped and reused meanwhile: memory stays valid, and the tag makes the CAS fail. */
		r = gmod_record_at((uint32_t)head - 1);
		next = ((head >> 32) + 1) << 32 | atomic_load_explicit(&r->next_free, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&free_stack, &head, next, memory_order_acq_rel,
							memory_order_acquire));
	return r;
}

/* Several threads may find that it is missing: that of the first stays. */
static bool has_bank(_Atomic(struct gmod_bank *) *bank)
{
	struct gmod_bank *fresh, *none = NULL;

	/* acquire: as of gmod_bank_of() */
	if (atomic_load_explicit(bank, memory_order_acquire))
		return true;
	fresh = gmod_map(sizeof(*fresh));
	if (!fresh)
		return false;
	/* Lines hold canaries: nothing of them belongs into a core file. */
	madvise(fresh, sizeof(*fresh), MADV_DONTDUMP);
	if (!atomic_compare_exchange_strong_explicit(bank, &none, fresh, memory_order_acq_rel, memory_order_acquire))
		munmap(fresh, sizeof(*fresh));
	return true;
}

/* One that was in no use yet. */
static struct gmod_record *take_fresh(void)
{
	uint32_t at = atomic_load_explicit(&used, memory_order_acquire);
	struct gmod_record *r;

	do {
		if (at == GMOD_BANKS * GMOD_BANK || !has_bank(&gmod_banks[at / GMOD_BANK]))
			return NULL;
		/* release: who finds it in use finds its bank */
	} while (
	    !atomic_compare_exchange_weak_explicit(&used, &at, at + 1, memory_order_acq_rel, memory_order_acquire));
	r = gmod_record_at(at);
	r->position = at;
	return r;
}

uint64_t gmod_record_snapshot(const struct gmod_record *r, struct gmod_bounds *b)
{
	uint64_t word = gmod_record_live(r);

	b->user = __atomic_load_n(&r->bounds.user, __ATOMIC_RELAXED);
	b->size = __atomic_load_n(&r->bounds.size, __ATOMIC_RELAXED);
	b->head_from = __atomic_load_n(&r->bounds.head_from, __ATOMIC_RELAXED);
	b->head_to = __atomic_load_n(&r->bounds.head_to, __ATOMIC_RELAXED);
	b->tail_from = __atomic_load_n(&r->bounds.tail_from, __ATOMIC_RELAXED);
	b->tail_to = __atomic_load_n(&r->bounds.tail_to, __ATOMIC_RELAXED);
	/* acquire fence: the fields above were read before the word is looked at again */
	atomic_thread_fence(memory_order_acquire);
	/* acquire: who finds that it has begun to leave sees the departure, too (monitor/registry/index.h) */
	return word && atomic_load_explicit(&r->word, memory_order_acquire) == word ? word : 0;
}

uint32_t gmod_registry_used(void)
{
	return atomic_load_explicit(&used, memory_order_acquire);
}

struct gmod_record *gmod_record_claim(void)
{
	struct gmod_record *r = pop_free();
	struct gmod_details *d;

	if (!r && !(r = take_fresh()))
		return NULL;
	d = gmod_record_details(r);
	atomic_store_explicit(&r->word, atomic_load_explicit(&r->word, memory_order_relaxed) | GMOD_ARMING,
			      memory_order_release);
	gmod_record_set_bounds(r, &(struct gmod_bounds){0});
	memset(d, 0, offsetof(struct gmod_details, stack));
	d->stack.depth = d->stack.python = 0;
	return r;
}

/* by: 1 or, as unsigned arithmetic has it, -1. */
static void count(const struct gmod_record *r, uint64_t by)
{
	const struct gmod_bounds *b = &r->bounds;

	/* A range is a part of a buffer. */
	if (gmod_record_details(r)->name)
		return;
	atomic_fetch_add_explicit(&live, by, memory_order_relaxed);
	atomic_fetch_add_explicit(&live_bytes, by * b->size, memory_order_relaxed);
	atomic_fetch_add_explicit(&live_slack, gmod_has_slack(b) ? by : 0, memory_order_relaxed);
	if (gmod_has_zones(b))
		atomic_fetch_add_explicit(gmod_zoned_of(r->position), (uint16_t)by, memory_order_relaxed);
	atomic_fetch_add_explicit(&live_shared, gmod_record_details(r)->memory != GMOD_MEM_DEVICE ? by : 0,
				  memory_order_relaxed);
}

void gmod_record_publish(struct gmod_record *r)
{
	uint64_t word = atomic_load_explicit(&r->word, memory_order_relaxed);

	count(r, 1);
	/* release: what the owner wrote is there for whoever acquires LIVE */
	atomic_store_explicit(&r->word, (word & ~(uint64_t)3) | GMOD_LIVE, memory_order_release);
}

void gmod_record_abandon(struct gmod_record *r)
{
	uint64_t word = atomic_load_explicit(&r->word, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&free_stack, memory_order_relaxed), mine;

	/* release: the canaries are gone before the word says so */
	atomic_store_explicit(&r->word, ((word >> 2) + 1) << 2 | GMOD_FREE, memory_order_release);
	do {
		atomic_store_explicit(&r->next_free, (uint32_t)head, memory_order_relaxed);
		mine = (head & ~(uint64_t)UINT32_MAX) | (r->position + 1);
		/* release: whoever pops this record sees its FREE word and next_free */
	} while (!atomic_compare_exchange_weak_explicit(&free_stack, &head, mine, memory_order_release,
							memory_order_relaxed));
}

/*
 * Waits for those that look under one of `pins`, a bit each: a batch takes the sweeper about a microsecond, and the
 * gather a driver call of some 20. false: another thread was first.
 */
static bool begin_release(struct gmod_record *r, uint64_t word, unsigned pins)
{
	uint64_t releasing = (word & ~(uint64_t)3) | GMOD_RELEASING;

	if ((word & 3) != GMOD_LIVE || !atomic_compare_exchange_strong_explicit(
					   &r->word, &word, releasing, memory_order_seq_cst, memory_order_relaxed))
		return false;
	/*
	 * A launch that is looked at may wait in the driver, for room in its stream. The free of what has a context
	 * natively waits for that, too; of other memory it does not, and none of that is looked at.
	 */
	if (!gmod_record_details(r)->context)
		pins &= ~(1U << GMOD_PIN_CONFIRM);
	/* seq_cst: ordered after our RELEASING; see registry.h */
	for (unsigned who = 0, turns = 0; who < GMOD_PIN_COUNT; who++)
		while (pins >> who & 1 &&
		       r->position / batch_size[who] + 1 == atomic_load_explicit(&pinned[who], memory_order_seq_cst))
			gmod_spin(&turns);
	return true;
}

bool gmod_record_begin_release(struct gmod_record *r, uint64_t word)
{
	return begin_release(r, word, ~0U);
}

bool gmod_record_begin_leaving(struct gmod_record *r, uint64_t word)
{
	return begin_release(r, word, 1U << GMOD_PIN_SWEEP | 1U << GMOD_PIN_EXIT);
}

void gmod_record_reinstate(struct gmod_record *r)
{
	uint64_t word = atomic_load_explicit(&r->word, memory_order_relaxed);

	/* release: as above, of what the owner wrote while it had the record */
	atomic_store_explicit(&r->word, (word & ~(uint64_t)3) | GMOD_LIVE, memory_order_release);
}

void gmod_record_renew(struct gmod_record *r, const struct gmod_bounds *b)
{
	uint64_t word = atomic_load_explicit(&r->word, memory_order_relaxed);

	count(r, (uint64_t)-1);
	atomic_store_explicit(&r->word, ((word >> 2) + 1) << 2 | GMOD_ARMING, memory_order_release);
	gmod_record_set_bounds(r, b);
}

void gmod_record_retire(struct gmod_record *r)
{
	count(r, (uint64_t)-1);
	gmod_record_abandon(r);
}

void gmod_pin(enum gmod_pin who, uint32_t position)
{
	/* seq_cst: ordered before the loads of the batch's words that follow, which are so too; see registry.h */
	atomic_store_explicit(&pinned[who], position / batch_size[who] + 1, memory_order_seq_cst);
}

void gmod_unpin(enum gmod_pin who)
{
	/* release: our loads of canaries are done before a freeing thread goes on */
	atomic_store_explicit(&pinned[who], 0, memory_order_release);
}

struct gmod_buffer_facts gmod_record_facts(const struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);
	const struct gmod_site *site = d->site;

	return (struct gmod_buffer_facts){
	    .base = r->bounds.user,
	    .size = r->bounds.size,
	    .device = d->device,
	    .memory = d->memory,
	    .backend = d->backend_name,
	    .name = d->name,
	    .exported = atomic_load_explicit(&d->exported, memory_order_relaxed),
	    .serial = d->serial,
	    .allocated_ns = d->allocated_ns,
	    .allocated_tid = d->tid,
	    .allocated_at = d->stack,
	    .site_allocations = site ? atomic_load_explicit(&site->allocations, memory_order_relaxed) : 0,
	    .site_guarded = site ? atomic_load_explicit(&site->guarded, memory_order_relaxed) : 0,
	};
}

void gmod_registry_stats(struct gmod_registry_stats *out)
{
	out->live = atomic_load_explicit(&live, memory_order_relaxed);
	out->live_bytes = atomic_load_explicit(&live_bytes, memory_order_relaxed);
	out->live_shared = atomic_load_explicit(&live_shared, memory_order_relaxed);
	out->live_slack = atomic_load_explicit(&live_slack, memory_order_relaxed);
}

bool gmod_live_facts_at(uint32_t position, struct gmod_buffer_facts *out)
{
	const struct gmod_record *r = gmod_record_at(position);
	bool live;

	gmod_pin(GMOD_PIN_SWEEP, position);
	live = gmod_record_live(r) && !gmod_record_details(r)->kept_back;
	if (live)
		*out = gmod_record_facts(r);
	gmod_unpin(GMOD_PIN_SWEEP);
	return live;
}
