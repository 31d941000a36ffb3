#include "monitor/budget.h"

#include "lib/options.h"

#define SAVED_NS ((uint64_t)500000000)
#define FORGIVEN_NS ((uint64_t)1000000000000) /* any debt is paid in this time; keeps the arithmetic in range */

static uint64_t paid_in(const struct gmod_budget *b, uint64_t ns)
{
	if (ns > FORGIVEN_NS)
		ns = FORGIVEN_NS;
	return ns * b->share / (100 * GMOD_PERCENT_ONE);
}

uint64_t gmod_budget_ns_for(const struct gmod_budget *b, uint64_t cpu)
{
	return b->share ? cpu * (100 * GMOD_PERCENT_ONE) / b->share : GMOD_PAUSE_MAX;
}

static void begin(struct gmod_budget *b, uint64_t cpu, uint64_t wall)
{
	b->cpu = cpu;
	b->wall = wall;
	b->apart = 0;
}

void gmod_budget_open(struct gmod_budget *b, unsigned share, uint64_t cpu, uint64_t wall)
{
	b->share = share;
	b->debt = -(int64_t)paid_in(b, SAVED_NS);
	b->put_off = b->over = 0;
	begin(b, cpu, wall);
}

void gmod_budget_put_off(struct gmod_budget *b, uint64_t cpu, uint64_t ns)
{
	b->apart += cpu;
	b->over = ns;
}

/* Of what is left, as large a share as has passed of its time: two thirds in all of it, and the rest later. */
static uint64_t due_after(const struct gmod_budget *b, uint64_t ns)
{
	return ns < b->over ? (uint64_t)((double)b->put_off * (double)ns / (double)b->over) : b->put_off;
}

void gmod_budget_round(struct gmod_budget *b, uint64_t cpu, uint64_t wall, bool free)
{
	uint64_t taken = cpu - b->cpu, passed = wall - b->wall, due = due_after(b, passed);
	uint64_t apart = b->apart < taken ? b->apart : taken;
	int64_t saved = (int64_t)paid_in(b, SAVED_NS);

	b->put_off -= due;
	b->debt += (int64_t)due - (int64_t)paid_in(b, passed);
	if (!free) {
		b->put_off += apart;
		b->debt += (int64_t)(taken - apart);
	}
	if (b->debt < -saved)
		b->debt = -saved;
	begin(b, cpu, wall);
}

uint64_t gmod_budget_pause(const struct gmod_budget *b)
{
	if (b->debt <= 0)
		return 0;
	if ((uint64_t)b->debt >= paid_in(b, GMOD_PAUSE_MAX))
		return GMOD_PAUSE_MAX;
	return gmod_budget_ns_for(b, (uint64_t)b->debt);
}
