/*
 * Which allocations are guarded: that each has the chance that is recorded for it, and that all together cost what they
 * may. The time is the test's own. Each test has a process of its own, so that the sampler begins anew.
 */
#include "lib/base/sampler.h"

#include "lib/base/clock.h"
#include "lib/base/facts.h"
#include "lib/base/hash.h"
#include "tests/unit/support.h"

#define US ((uint64_t)1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)

enum { SITES = 1000, ALLOCATIONS = 1000000, LONGEST_MS = 120000 };

static uint64_t seed = 1;

static void begin(unsigned percent_parts)
{
	((struct gmod_options *)(uintptr_t)gmod_options())->max_overhead = percent_parts;
	gmod_hot.key[0] = 4711;
}

/* ---- a program, its blocks, and what guarding them costs ---- */

struct world {
	uint64_t now, began, life;                  /* ns */
	uint64_t (*cost)(void);                     /* of an arm, and of a look; NULL: 6 us */
	bool on_stream;                             /* the stream takes that long, and the thread half of it */
	uint64_t spent[LONGEST_MS];                 /* in each ms */
	uint64_t due[1 << 17], first_due, next_due; /* when the blocks that live are freed */
	struct gmod_site *site[SITES];
};

static struct world *open_world(unsigned percent_parts)
{
	struct world *w = calloc(1, sizeof(*w));

	NEED(w);
	begin(percent_parts);
	w->began = w->now = 7 * 24 * 3600 * SECOND;
	return w;
}

static void pay(struct world *w)
{
	uint64_t ns = w->cost ? w->cost() : 6 * US;

	if (w->on_stream)
		gmod_sample_spent(ns / 2, ns);
	else
		gmod_sample_spent(ns, ns / 3);
	w->spent[(w->now - w->began) / MS] += ns;
}

static void pass(struct world *w, uint64_t ns)
{
	uint64_t until = w->now + ns;

	NEED(until - w->began < LONGEST_MS * MS);
	for (; w->first_due < w->next_due && w->due[w->first_due % SIZE_OF(w->due)] <= until; w->first_due++) {
		w->now = w->due[w->first_due % SIZE_OF(w->due)];
		pay(w);
	}
	w->now = until;
}

static uint64_t key_of(uint64_t number)
{
	return gmod_hash(number + 1);
}

static bool allocate(struct world *w, uint64_t number)
{
	struct gmod_site *s;
	bool chosen = gmod_sample(key_of(number), w->now, &s);

	if (number < SITES)
		w->site[number] = s;
	if (!chosen)
		return false;
	pay(w);
	NEED(w->next_due - w->first_due < SIZE_OF(w->due));
	w->due[w->next_due++ % SIZE_OF(w->due)] = w->now + w->life;
	return true;
}

/* What the dearest second cost, and all. */
static uint64_t dearest(const struct world *w, uint64_t *all)
{
	uint64_t most = 0, second = 0;

	*all = 0;
	for (size_t i = 0; i < LONGEST_MS; i++) {
		*all += w->spent[i];
		second += w->spent[i] - (i < 1000 ? 0 : w->spent[i - 1000]);
		most = second > most ? second : most;
	}
	return most;
}

/* No second costs a fifth more than it may, and over all of the time at least so many percent of it are used. */
static void check_budget(const struct world *w, unsigned percent_parts, unsigned used)
{
	uint64_t all, most = dearest(w, &all), may = SECOND / (100 * GMOD_PERCENT_ONE) * percent_parts;
	uint64_t all_may = (w->now - w->began) / (100 * GMOD_PERCENT_ONE) * percent_parts;

	CHECK(most <= may + may / 5, "a second cost %lu us instead of %lu", most / US, may / US);
	CHECK(all <= all_may + all_may / 20, "it cost %lu us instead of %lu", all / US, all_may / US);
	CHECK(all * 100 >= all_may * used, "it cost %lu us instead of %lu", all / US, all_may / US);
}

/* ---- shares ---- */

/* Of n throws of probability p: how probable are k of them, or what lies farther out on that side? */
static double tail(uint64_t n, double p, uint64_t k)
{
	uint64_t mode = (uint64_t)((double)(n + 1) * p);
	double all = 0, below = 0, above = 0, t = 1;

	for (uint64_t j = mode; t > 1e-18; j--) {
		all += t;
		below += j <= k ? t : 0;
		above += j >= k ? t : 0;
		if (!j)
			break;
		t *= (double)j * (1 - p) / ((double)(n - j + 1) * p);
	}
	t = 1;
	for (uint64_t j = mode; j < n && t > 1e-18;) {
		t *= (double)(n - j) * p / ((double)(j + 1) * (1 - p));
		j++;
		all += t;
		below += j <= k ? t : 0;
		above += j >= k ? t : 0;
	}
	return (below < above ? below : above) / all;
}

/*
 * Outside of the 99.9 % interval of the binomial distribution whose probability is the mean of those recorded. That of
 * draws whose probabilities differ is narrower.
 */
static bool is_outside(uint64_t draws, uint64_t drawn, uint64_t expected)
{
	double p = draws ? (double)expected / (double)draws / (double)GMOD_CERTAIN : 0;

	if (p <= 0 || p >= 1)
		return drawn != (p <= 0 ? 0 : draws);
	return tail(draws, p, drawn) < 0.0005;
}

static void check_shares(const struct world *w, uint64_t least_drawn)
{
	uint64_t allocations = 0, draws = 0, drawn = 0, expected = 0;
	unsigned outside = 0, rare = 0;
	struct gmod_sample_totals t;

	for (int i = 0; i < SITES; i++) {
		const struct gmod_site *s = w->site[i];

		NEED(s->firsts == GMOD_SITE_FIRSTS && s->guarded == s->firsts + s->drawn);
		outside += is_outside(s->draws, s->drawn, s->expected);
		rare += s->drawn < least_drawn;
		allocations += s->allocations;
		draws += s->draws;
		drawn += s->drawn;
		expected += s->expected;
	}
	CHECK(allocations == ALLOCATIONS, "%lu", allocations);
	CHECK(outside <= 5, "%u sites have another share than was recorded", outside);
	CHECK(!is_outside(draws, drawn, expected), "%lu drawn, and %lu expected", drawn, expected >> 32);
	CHECK(rare <= 5, "%u sites were hardly drawn", rare);
	gmod_sample_totals(&t);
	NEED(t.sites == SITES && t.sites_guarded == SITES);
}

/* ---- programs ---- */

/* Each step allocates all the same in the same order; ten steps are a window. */
TEST_IN_CHILD(steps_have_fair_shares)
{
	struct world *w = open_world(GMOD_PERCENT_ONE);

	for (int i = 0; i < ALLOCATIONS; i++) {
		allocate(w, (uint64_t)i % SITES);
		pass(w, 40 * US);
	}
	check_shares(w, 8);
	check_budget(w, GMOD_PERCENT_ONE, 90);
}

/* Twice a second all at once. Those who come late in a burst are drawn, too. */
TEST_IN_CHILD(bursts_have_fair_shares)
{
	struct world *w = open_world(5 * GMOD_PERCENT_ONE);

	w->life = 5 * MS;
	for (int i = 0; i < ALLOCATIONS; i++) {
		allocate(w, (uint64_t)i / 20 % SITES);
		pass(w, i % 20000 == 19999 ? 500 * MS : US);
	}
	check_shares(w, 1);
	check_budget(w, 5 * GMOD_PERCENT_ONE, 20);
}

/* Every second allocation is of the same site. */
TEST_IN_CHILD(a_frequent_site_has_a_fair_share)
{
	struct world *w = open_world(GMOD_PERCENT_ONE);

	w->life = 50 * MS;
	for (int i = 0; i < ALLOCATIONS; i++) {
		allocate(w, i % 2 ? 0 : 1 + (uint64_t)i / 2 % (SITES - 1));
		pass(w, 50 * US);
	}
	check_shares(w, 3);
	check_budget(w, GMOD_PERCENT_ONE, 90);
}

/* Most cost 2 us, some 100. */
static uint64_t varying(void)
{
	return random_below(&seed, 50) ? 2 * US : 100 * US;
}

TEST_IN_CHILD(shares_are_fair_where_costs_vary)
{
	struct world *w = open_world(GMOD_PERCENT_ONE);

	w->cost = varying;
	w->on_stream = true;
	w->life = 300 * MS;
	for (int i = 0; i < ALLOCATIONS; i++) {
		allocate(w, (uint64_t)i % SITES);
		pass(w, i % 7 ? 20 * US : 80 * US);
	}
	check_shares(w, 8);
	check_budget(w, GMOD_PERCENT_ONE, 80);
}
