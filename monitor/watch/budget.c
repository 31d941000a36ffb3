#include "monitor/watch/budget.h"

#include "lib/base/options.h"

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

static void begin_round(struct gmod_budget *b, uint64_t cpu, uint64_t wall)
{
	b->round.cpu = cpu;
	b->round.wall = wall;
	b->round.put_off = b->round.ns_for = 0;
}

void gmod_budget_open(struct gmod_budget *b, unsigned share, uint64_t cpu, uint64_t wall)
{
	b->share = share;
	b->debt = -(int64_t)paid_in(b, SAVED_NS);
	b->put_off = 0;
	b->rate = 0;
	begin_round(b, cpu, wall);
}

void gmod_budget_put_off(struct gmod_budget *b, uint64_t cpu, uint64_t ns)
{
	b->round.put_off = cpu;
	b->round.ns_for = ns;
}

/* What comes due of what was put off. */
static uint64_t fall_due(struct gmod_budget *b, uint64_t passed)
{
	double share = b->rate * (double)passed;
	uint64_t due = share < (double)b->put_off ? (uint64_t)share : b->put_off;

	b->put_off -= due;
	if (!b->put_off)
		b->rate = 0;
	return due;
}

/* What is owed of a round at once. */
static uint64_t owed_now(struct gmod_budget *b, uint64_t taken)
{
	uint64_t later = b->round.put_off < taken ? b->round.put_off : taken;

	if (!b->round.ns_for)
		return taken;
	b->put_off += later;
	b->rate += (double)later / (double)b->round.ns_for;
	return taken - later;
}

void gmod_budget_round(struct gmod_budget *b, uint64_t cpu, uint64_t wall, bool charged)
{
	uint64_t passed = wall - b->round.wall;
	int64_t saved = (int64_t)paid_in(b, SAVED_NS);

	b->debt += (int64_t)fall_due(b, passed) - (int64_t)paid_in(b, passed);
	if (charged)
		b->debt += (int64_t)owed_now(b, cpu - b->round.cpu);
	if (b->debt < -saved)
		b->debt = -saved;
	begin_round(b, cpu, wall);
}

uint64_t gmod_budget_pause(const struct gmod_budget *b)
{
	if (b->debt <= 0)
		return 0;
	if ((uint64_t)b->debt >= paid_in(b, GMOD_PAUSE_MAX))
		return GMOD_PAUSE_MAX;
	return gmod_budget_ns_for(b, (uint64_t)b->debt);
}
