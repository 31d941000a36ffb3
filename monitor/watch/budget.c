#include "monitor/watch/budget.h"

#include "lib/base/options.h"

#define SAVED_NS ((uint64_t)500000000)
#define AT_ONCE_NS ((uint64_t)1000000)
#define FORGIVEN_NS ((uint64_t)1000000000000) /* any debt is paid in this time; keeps the arithmetic in range */

static uint64_t paid_in(const struct gmod_budget *b, uint64_t ns)
{
	if (ns > FORGIVEN_NS)
		ns = FORGIVEN_NS;
	return ns * b->share / (100 * GMOD_PERCENT_ONE);
}

uint64_t gmod_budget_ns_for(unsigned share, uint64_t cpu)
{
	return share ? cpu * (100 * GMOD_PERCENT_ONE) / share : GMOD_PAUSE_MAX;
}

void gmod_budget_open(struct gmod_budget *b, unsigned share, uint64_t cpu, uint64_t wall)
{
	*b = (struct gmod_budget){.share = share, .cpu = cpu, .wall = wall};
	b->debt = -(int64_t)paid_in(b, SAVED_NS);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void charge(struct gmod_budget *b, uint64_t taken)
{
	uint64_t now = less(taken, paid_in(b, AT_ONCE_NS) + b->put_off / 8);

	b->debt += (int64_t)now;
	b->put_off += taken - now;
}

void gmod_budget_round(struct gmod_budget *b, uint64_t cpu, uint64_t wall, bool charged)
{
	uint64_t paid = paid_in(b, wall - b->wall), of_put_off = less(b->put_off, paid / 2);
	int64_t saved = (int64_t)paid_in(b, SAVED_NS);

	b->put_off -= of_put_off;
	b->debt -= (int64_t)(paid - of_put_off);
	if (charged)
		charge(b, cpu - b->cpu);
	if (b->debt < -saved)
		b->debt = -saved;
	b->cpu = cpu;
	b->wall = wall;
}

uint64_t gmod_budget_pause(const struct gmod_budget *b)
{
	if (b->debt <= 0)
		return 0;
	if ((uint64_t)b->debt >= paid_in(b, GMOD_PAUSE_MAX))
		return GMOD_PAUSE_MAX;
	return gmod_budget_ns_for(b->share, (uint64_t)b->debt);
}
