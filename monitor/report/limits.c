#include "monitor/report/limits.h"

#include <stdatomic.h>

#include "lib/base/counters.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"

#define SITES_MAX 4096 /* a power of two */
#define IDS_MAX (1u << 20)

/*
 * Where findings come from, by class and raw return addresses: cheap to find again, so that a flood costs no
 * symbols. key 0: free; an entry is never given back. reports counts up past the limit.
 */
struct gmod_site {
	_Atomic uint64_t key;
	_Atomic unsigned reports;
	_Atomic bool suppressed; /* by its frames, so every finding of it is */
};

/* By gmod_limits_init(); apart from the rest, which is large and starts as zeros. */
static unsigned max_reports = 100;

/* Written by whoever reports. */
static struct {
	struct gmod_site site[SITES_MAX];
	_Atomic uint8_t fate[IDS_MAX]; /* by finding id; pages that no id needs are never touched */
	_Atomic unsigned shown;        /* reports admitted, may run past max_reports */
	_Atomic unsigned repeated, beyond;
	_Atomic unsigned told; /* of repeated + beyond, by gmod_report_end() */
} state;

void gmod_limits_init(unsigned most)
{
	max_reports = most;
	state.shown = state.repeated = state.beyond = state.told = 0;
	gmod_counters.suppressed = 0;
}

static unsigned load(_Atomic unsigned *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static unsigned add_one(_Atomic unsigned *counter)
{
	return atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static struct gmod_site *site_of(const struct gmod_finding *f)
{
	const struct gmod_stack *stack = gmod_site_stack(f);
	uint32_t depth = stack->depth < GMOD_STACK_MAX ? stack->depth : GMOD_STACK_MAX;
	uint64_t key = gmod_hash_bytes(gmod_hash_bytes(GMOD_HASH_START, &f->class, sizeof(f->class)), stack->pc,
				       depth * sizeof(stack->pc[0])) |
		       1;

	for (uint64_t i = 0; depth > 0 && i < SITES_MAX; i++) {
		struct gmod_site *s = &state.site[((key >> 20) + i) % SITES_MAX];
		uint64_t found = 0;

		if (atomic_compare_exchange_strong_explicit(&s->key, &found, key, memory_order_relaxed,
							    memory_order_relaxed) ||
		    found == key)
			return s;
	}
	return NULL;
}

/* Of the finding's id: SHOWN, COUNTED or SUPPRESSED before, or NEW; DONE: it may not be looked at. */
static enum gmod_fate fate_of(const struct gmod_finding *f)
{
	uint8_t was = GMOD_NEW;

	if (f->id == 0 || f->id >= IDS_MAX)
		return f->status == GMOD_FINAL ? GMOD_NEW : GMOD_DONE;
	if (f->status == GMOD_PROVISIONAL)
		return atomic_compare_exchange_strong_explicit(&state.fate[f->id], &was, GMOD_CLAIMED,
							       memory_order_relaxed, memory_order_relaxed)
			   ? GMOD_NEW
			   : GMOD_DONE;
	was = atomic_exchange_explicit(&state.fate[f->id], GMOD_DONE, memory_order_relaxed);
	return was == GMOD_CLAIMED ? GMOD_NEW : was;
}

/* What can be judged without symbols, else GMOD_NEW. */
static enum gmod_fate judge(struct gmod_site *site)
{
	if (site && atomic_load_explicit(&site->suppressed, memory_order_relaxed))
		return GMOD_SUPPRESSED;
	if (site && load(&site->reports) >= GMOD_REPORTS_PER_SITE)
		return GMOD_COUNTED;
	return load(&state.shown) >= max_reports ? GMOD_COUNTED : GMOD_NEW;
}

enum gmod_fate gmod_limits_enter(const struct gmod_finding *f, struct gmod_site **site)
{
	enum gmod_fate fate = fate_of(f);

	*site = fate == GMOD_NEW || fate == GMOD_SHOWN ? site_of(f) : NULL;
	if (fate == GMOD_NEW && (fate = judge(*site)) != GMOD_NEW)
		gmod_limits_settle(f, fate, *site);
	return fate;
}

enum gmod_fate gmod_limits_admit(struct gmod_site *site, bool suppressed, bool by_frames)
{
	if (site && by_frames)
		atomic_store_explicit(&site->suppressed, true, memory_order_relaxed);
	if (suppressed)
		return GMOD_SUPPRESSED;
	if (site && add_one(&site->reports) >= GMOD_REPORTS_PER_SITE)
		return GMOD_COUNTED;
	return add_one(&state.shown) < max_reports ? GMOD_SHOWN : GMOD_COUNTED;
}

bool gmod_limits_settle(const struct gmod_finding *f, enum gmod_fate fate, struct gmod_site *site)
{
	uint8_t claimed = GMOD_CLAIMED;

	if (f->status == GMOD_PROVISIONAL &&
	    !atomic_compare_exchange_strong_explicit(&state.fate[f->id], &claimed, (uint8_t)fate, memory_order_relaxed,
						     memory_order_relaxed))
		return false;
	if (fate == GMOD_SUPPRESSED)
		gmod_count(&gmod_counters.suppressed, 1);
	else if (fate == GMOD_COUNTED)
		add_one(site && load(&site->reports) >= GMOD_REPORTS_PER_SITE ? &state.repeated : &state.beyond);
	return true;
}

void gmod_report_end(void)
{
	unsigned repeated = load(&state.repeated), beyond = load(&state.beyond), sum = repeated + beyond;
	unsigned told = atomic_exchange_explicit(&state.told, sum, memory_order_relaxed);

	if (sum > told)
		gmod_log_note(
		    0,
		    "%u finding%s counted and not shown: %u beyond max_reports=%u, %u of a site that had been "
		    "reported %d times",
		    sum, sum == 1 ? " was" : "s were", beyond, max_reports, repeated, GMOD_REPORTS_PER_SITE);
}
