/*
 * Which allocations are guarded: that each has the chance that is recorded for it, and that all together cost what they
 * may. The time is the test's own. Each test has a process of its own, so that the sampler begins anew.
 */
#include "tests/unit/sampling.h"

enum { SITES = 1000, ALLOCATIONS = 1000000, LONGEST_MS = 400000 };
enum { RUN = 8 }; /* draws that are chosen together */

static uint64_t seed = 1;

/* ---- a program, its blocks, and what guarding them costs ---- */

struct world {
	unsigned rate;                              /* max_overhead */
	uint64_t now, began;                        /* ns */
	uint64_t step;                              /* ns that an arm costs, and a look */
	bool varies;                                /* one in 50 costs ten times as much */
	bool on_stream;                             /* the stream's time is the larger one */
	uint64_t life;                              /* ns that a block lives */
	uint64_t spent[LONGEST_MS];                 /* ns, in each ms */
	uint64_t due[1 << 17], first_due, next_due; /* when the blocks that live are freed */
	struct gmod_site *site[SITES];
	uint64_t fresh; /* numbers of sites that choose_new() has taken */
	struct gmod_site *latest[SITES];
};

static struct world *open_world(unsigned rate)
{
	struct world *w = calloc(1, sizeof(*w));

	NEED(w);
	begin(rate);
	w->rate = rate;
	w->began = w->now = 7 * 24 * 3600 * SECOND;
	gmod_sample_begin(w->now);
	w->step = 6 * US;
	return w;
}

static void pay(struct world *w)
{
	uint64_t ns = w->varies && random_below(&seed, 50) == 0 ? 10 * w->step : w->step;

	if (w->on_stream)
		gmod_sample_spent(ns / 2, ns);
	else
		gmod_sample_spent(ns, ns / 3);
	NEED(w->now - w->began < LONGEST_MS * MS);
	w->spent[(w->now - w->began) / MS] += ns;
}

static void pass(struct world *w, uint64_t ns)
{
	uint64_t until = w->now + ns;

	for (; w->first_due < w->next_due && w->due[w->first_due % SIZE_OF(w->due)] <= until; w->first_due++) {
		w->now = w->due[w->first_due % SIZE_OF(w->due)];
		pay(w);
	}
	w->now = until;
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

/* No second costs a fifth and two runs more than it may, and in all they cost at least that share of what they may. */
static void check_budget(const struct world *w, unsigned least_percent)
{
	uint64_t most = 0, second = 0, all = 0, may = SECOND / ALL * w->rate,
		 all_may = (w->now - w->began) / ALL * w->rate;

	for (size_t i = 0; i < LONGEST_MS; i++) {
		all += w->spent[i];
		second += w->spent[i] - (i < 1000 ? 0 : w->spent[i - 1000]);
		most = second > most ? second : most;
	}
	CHECK(most <= may + may / 5 + 2 * RUN * 2 * w->step, "a second cost %lu us instead of %lu", most / US,
	      may / US);
	CHECK(all * 100 <= all_may * 105, "it cost %lu us instead of %lu", all / US, all_may / US);
	CHECK(all * 100 >= all_may * least_percent, "it cost %lu us instead of %lu", all / US, all_may / US);
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

/* Draws, the mean of the probabilities recorded for them, and how many were drawn. */
struct share {
	uint64_t draws, drawn, expected;
};

static double mean_probability(struct share s)
{
	return s.draws ? (double)s.expected / (double)s.draws / (double)GMOD_CERTAIN : 0;
}

/*
 * Outside of the 99.9 % interval of the binomial distribution (exact) whose probability is the mean of those recorded.
 * The interval of draws whose probabilities differ is narrower.
 */
static bool is_outside(struct share s)
{
	double p = mean_probability(s);

	if (p <= 0 || p >= 1)
		return s.drawn != (p <= 0 ? 0 : s.draws);
	return tail(s.draws, p, s.drawn) < 0.0005;
}

/* Square of how far they lie off, by what is usual. */
static double off(struct share s)
{
	double p = mean_probability(s), n = (double)s.draws, distance = (double)s.drawn - n * p;

	return p <= 0 || p >= 1 ? 0 : distance * distance / (n * p * (1 - p));
}

static void check_shares(const struct world *w, uint64_t least_drawn)
{
	struct share all = {0};
	uint64_t allocations = 0;
	unsigned outside = 0, rare = 0;
	struct gmod_sample_totals t;
	double all_off = 0;

	for (int i = 0; i < SITES; i++) {
		const struct gmod_site *s = w->site[i];
		struct share share = {s->draws, s->drawn, s->expected};

		NEED(s->firsts == GMOD_SITE_FIRSTS && s->guarded == s->firsts + s->drawn);
		outside += is_outside(share);
		all_off += off(share);
		rare += share.drawn < least_drawn;
		allocations += s->allocations;
		all.draws += share.draws;
		all.drawn += share.drawn;
		all.expected += share.expected;
	}
	CHECK(allocations == ALLOCATIONS, "%lu", allocations);
	CHECK(outside <= 5, "%u sites have another share than was recorded", outside);
	CHECK(!is_outside((struct share){all.draws / RUN, all.drawn / RUN, all.expected / RUN}),
	      "%lu drawn, and %lu expected", all.drawn, all.expected >> 32);
	/* Too even is not by chance either. */
	CHECK(all_off > 0.8 * SITES && all_off < 1.2 * SITES, "%.0f of %d", all_off, SITES);
	CHECK(rare <= 5, "%u sites were hardly drawn", rare);
	gmod_sample_totals(&t);
	NEED(t.sites == SITES && t.sites_guarded == SITES);
}

/* ---- programs ---- */

/* Each step allocates all the same in the same order; ten steps are a window. */
TEST_IN_CHILD(steps_have_fair_shares)
{
	struct world *w = open_world(ONE_PERCENT);

	for (int i = 0; i < ALLOCATIONS; i++) {
		allocate(w, (uint64_t)i % SITES);
		pass(w, 40 * US);
	}
	check_shares(w, 8);
	check_budget(w, 90);
}

/*
 * Twice a second nearly all at once, ten sites in turn, then the next ten; and a few afterwards. Those who come late in
 * a burst are drawn, too.
 */
TEST_IN_CHILD(bursts_have_fair_shares)
{
	struct world *w = open_world(5 * ONE_PERCENT);

	w->life = 5 * MS;
	for (int i = 0; i < ALLOCATIONS; i++) {
		allocate(w, i % 10000 < 9996 ? (uint64_t)i / 100 % 100 * 10 + (uint64_t)i % 10 : 5);
		pass(w, i % 10000 < 9995 ? US : 100 * MS);
	}
	check_shares(w, 5);
	check_budget(w, 15);
}

/* Every second allocation is of the same site. */
TEST_IN_CHILD(a_frequent_site_has_a_fair_share)
{
	struct world *w = open_world(ONE_PERCENT);

	w->life = 50 * MS;
	for (int i = 0; i < ALLOCATIONS; i++) {
		allocate(w, i % 2 ? 0 : 1 + (uint64_t)i / 2 % (SITES - 1));
		pass(w, 50 * US);
	}
	check_shares(w, 3);
	check_budget(w, 90);
}

TEST_IN_CHILD(shares_are_fair_where_costs_vary)
{
	struct world *w = open_world(ONE_PERCENT);

	w->step = 2 * US;
	w->varies = true;
	w->on_stream = true;
	w->life = 300 * MS;
	for (int i = 0; i < ALLOCATIONS; i++) {
		allocate(w, (uint64_t)i % SITES);
		pass(w, i % 7 ? 20 * US : 80 * US);
	}
	check_shares(w, 8);
	check_budget(w, 80);
}

/* Of all that are chosen by chance, most come right behind one that was. */
TEST_IN_CHILD(draws_are_chosen_in_runs)
{
	struct world *w = open_world(ONE_PERCENT);
	unsigned chosen = 0, behind = 0;
	bool before = false;

	for (int i = 0; i < 100000; i++) {
		bool is = allocate(w, (uint64_t)i % 10);

		chosen += is;
		behind += is && before;
		before = is;
		pass(w, 40 * US);
	}
	CHECK(behind > chosen * 8 / 10 && chosen < 10000, "%u of %u", behind, chosen);
}

/* ---- the budget ---- */

/* So many seconds of allocations of a few sites, one each `gap`. */
static void flow(struct world *w, uint64_t seconds, uint64_t gap)
{
	for (uint64_t until = w->now + seconds * SECOND; w->now < until; pass(w, gap))
		allocate(w, random_below(&seed, 50));
}

/* Other costs than are assumed at first, blocks that live long or for ever, other budgets. */
static const struct kind {
	unsigned rate;
	uint64_t step, life;
	unsigned least_percent;
} kinds[] = {
    {ONE_PERCENT, US, 0, 90},
    {ONE_PERCENT, 40 * US, 0, 80},
    {ONE_PERCENT, 6 * US, SECOND, 85},
    {ONE_PERCENT, 6 * US, 3600 * SECOND, 85},
    {ONE_PERCENT / 10, 6 * US, 10 * MS, 75},
    {50 * ONE_PERCENT, 6 * US, 10 * MS, 90},
};
static const struct kind *kind;

static void flow_of_a_kind(void)
{
	struct world *w = open_world(kind->rate);

	w->step = kind->step;
	w->life = kind->life;
	flow(w, 20, 10 * US);
	check_budget(w, kind->least_percent);
}

TEST(the_budget_is_kept_and_used)
{
	for (kind = kinds; kind < kinds + SIZE_OF(kinds); kind++)
		in_child(flow_of_a_kind, 0);
}

/* Long pauses, then more in a moment than can be paid for. */
TEST_IN_CHILD(a_sudden_burst_costs_no_more)
{
	struct world *w = open_world(ONE_PERCENT);

	w->life = 200 * MS;
	for (int i = 0; i < 10; i++) {
		flow(w, 3, 100 * MS);
		for (int k = 0; k < 50000; k++) {
			allocate(w, random_below(&seed, 50));
			pass(w, US);
		}
		flow(w, 1, 20 * US);
	}
	/* As much as there are seconds with many. */
	check_budget(w, 9);
}

/* Of n allocations of a few sites, in a burst: how many are guarded. */
static unsigned burst(struct world *w, unsigned n)
{
	unsigned guarded = 0;

	for (; n > 0; n--) {
		guarded += allocate(w, random_below(&seed, 10));
		pass(w, 20 * US);
	}
	return guarded;
}

/* A process that is half a second old: its first burst gets what that has earned, and no later one does. */
TEST_IN_CHILD(the_time_before_the_first_counts_once)
{
	struct world *w = open_world(ONE_PERCENT);
	unsigned first, later;

	w->life = 10 * SECOND;
	pass(w, 500 * MS);
	first = burst(w, 400);
	flow(w, 300, 100 * MS);
	later = burst(w, 400);
	CHECK(first > 300, "of 400 first allocations, %u are guarded", first);
	CHECK(later < 250, "of 400 later ones, %u are guarded", later);
}

/* A few allocations at that age, a pause, and a burst: how many of its n are guarded. */
static unsigned burst_after(uint64_t age, uint64_t pause, unsigned n)
{
	struct world *w = open_world(ONE_PERCENT);

	w->life = 10 * SECOND;
	pass(w, age);
	burst(w, 10);
	pass(w, pause);
	return burst(w, n);
}

/* Weights, then a library that is loaded for some seconds, then the first step. */
TEST_IN_CHILD(the_time_before_outlasts_a_pause)
{
	unsigned guarded = burst_after(6 * SECOND, 5 * SECOND, 2000);

	CHECK(guarded > 1800, "of 2000, %u are guarded", guarded);
}

/* How many of n new sites have one guarded, all at this moment. */
static uint64_t choose_new(struct world *w, uint64_t n)
{
	uint64_t chosen = 0;
	struct gmod_site *s;

	for (; n > 0; n--)
		if (gmod_sample(key_of(w->fresh++), w->now, &s))
			w->latest[chosen++ % SITES] = s;
	return chosen;
}

/* A choice is charged before it has cost anything. */
TEST_IN_CHILD(new_sites_cost_no_more)
{
	struct world *w = open_world(ONE_PERCENT);
	uint64_t chosen = choose_new(w, 2000), late;

	/* 1.25 ms. */
	CHECK(chosen >= 100 && chosen <= 106, "%lu", chosen);
	/* And while that is to come. */
	pass(w, 100 * MS);
	late = choose_new(w, 1000);
	CHECK(late <= 20, "%lu", late);
	for (uint64_t i = 0; i < 2 * (chosen + late); i++)
		pay(w);
	for (int i = 0; i < 200000; i++) {
		allocate(w, 3000 + (uint64_t)i / 2);
		pass(w, 50 * US);
	}
	check_budget(w, 90);
}

TEST_IN_CHILD(what_is_taken_back_is_not_charged)
{
	struct world *w = open_world(ONE_PERCENT);
	struct gmod_sample_totals t;
	uint64_t chosen = choose_new(w, 1000);

	NEED(chosen > 50 && chosen < SITES);
	NEED(choose_new(w, 1000) == 0);
	gmod_sample_totals(&t);
	NEED(t.sites == 2000 && t.sites_guarded == chosen);
	for (uint64_t i = 0; i < chosen; i++)
		gmod_sample_take_back(w->latest[i]);
	gmod_sample_totals(&t);
	NEED(t.sites == 2000 && t.sites_guarded == 0);
	NEED(choose_new(w, 1000) == chosen);
}

/* But of no more than ten seconds' worth. */
TEST_IN_CHILD(a_debt_is_paid_back)
{
	struct world *w = open_world(ONE_PERCENT);
	uint64_t all = 0, draws = 0;
	struct gmod_site *s;

	flow(w, 1, 100 * US);
	for (int i = 0; i < 2000; i++)
		gmod_sample_spent(200 * US, 0);
	pass(w, 100 * MS);
	for (int i = 0; i < 90000; i++) {
		NEED(!gmod_sample(key_of(random_below(&seed, 100)), w->now, &s));
		pass(w, 100 * US);
	}
	for (size_t i = 0; i < LONGEST_MS; i++)
		all += w->spent[i];
	flow(w, 11, 100 * US);
	for (size_t i = 0; i < LONGEST_MS; i++)
		draws += w->spent[i];
	CHECK(draws - all >= 85 * MS && draws - all <= 115 * MS, "%lu us", (draws - all) / US);
}

/* What is not spent of the credit of the start is gone after a while, also where nothing allocates meanwhile. */
TEST_IN_CHILD(an_old_credit_fades)
{
	unsigned late = burst_after(500 * MS, 60 * SECOND, 400);

	CHECK(late < 250, "of 400, %u are guarded", late);
}

/* An hour with pairs of 3 ms. Runs end with their window, or what their beginning costs would stop them. */
TEST_IN_CHILD(expensive_pairs_have_a_fair_share)
{
	struct world *w = open_world(ONE_PERCENT);
	struct gmod_site *s = NULL;

	for (int i = 0; i < 180000; i++) {
		if (gmod_sample(1, w->now, &s))
			gmod_sample_spent(3 * MS, 0);
		w->now += 20 * MS;
	}
	CHECK(s->drawn * 100 >= (s->expected >> 32) * 97, "%lu drawn, %lu expected", s->drawn, s->expected >> 32);
}

/* A second that a thread had to wait for once is no debt. */
TEST_IN_CHILD(a_single_wait_is_no_price)
{
	struct world *w = open_world(ONE_PERCENT);

	flow(w, 10, 500 * US);
	gmod_sample_spent(SECOND, 0);
	flow(w, 10, 500 * US);
	check_budget(w, 90);
}

/* But where each call waits, that is their price, which is known after a few seconds. */
TEST_IN_CHILD(many_waits_are_a_price)
{
	struct world *w = open_world(ONE_PERCENT);
	uint64_t all = 0;

	w->step = 400 * US;
	flow(w, 5, 10 * US);
	memset(w->spent, 0, sizeof(w->spent));
	flow(w, 20, 10 * US);
	for (size_t i = 0; i < LONGEST_MS; i++)
		all += w->spent[i];
	CHECK(all >= 180 * MS && all <= 210 * MS, "%lu us of 200000", all / US);
}

/* Another thread may have asked for the time a little earlier. */
TEST_IN_CHILD(an_older_time_does_no_harm)
{
	struct world *w = open_world(ONE_PERCENT);
	struct gmod_site *s;

	for (int i = 0; i < 200000; i++) {
		if (gmod_sample(key_of(random_below(&seed, 50)), w->now - (i % 2 ? 30 * MS : 0), &s))
			gmod_sample_take_back(s);
		allocate(w, random_below(&seed, 50));
		pass(w, 50 * US);
	}
	check_budget(w, 40); /* half of what is chosen is taken back */
}

/* ---- who comes first ---- */

/* However many draws there are, they leave something for new sites. */
TEST_IN_CHILD(a_rare_site_has_its_first_ones_guarded)
{
	struct world *w = open_world(ONE_PERCENT);
	unsigned at_once = 0;

	w->life = 20 * MS;
	flow(w, 2, 10 * US);
	for (int i = 0; i < 400; i++) {
		at_once += allocate(w, 100 + (uint64_t)i / GMOD_SITE_FIRSTS);
		pass(w, 10 * US);
		for (int k = 0; k < 2000; k++) {
			allocate(w, random_below(&seed, 50));
			pass(w, 10 * US);
		}
	}
	CHECK(at_once >= 380, "%u of 400", at_once);
	for (int i = 100; i < 200; i++)
		CHECK(w->site[i]->allocations == GMOD_SITE_FIRSTS && w->site[i]->draws <= 1, "site %d", i);
	check_budget(w, 85);
}

/* ---- all and none ---- */

TEST_IN_CHILD(at_0_none_is_guarded)
{
	struct world *w = open_world(0);

	for (int i = 0; i < 10000; i++) {
		NEED(!allocate(w, (uint64_t)i % 10));
		pass(w, MS);
	}
	NEED(w->site[3]->allocations == 1000 && w->site[3]->draws == 0 && w->site[3]->guarded == 0);
}

TEST_IN_CHILD(at_100_all_are_guarded)
{
	struct world *w = open_world(ALL);

	w->step = 10 * MS;
	for (int i = 0; i < 10000; i++) {
		NEED(allocate(w, (uint64_t)i % 10));
		pass(w, MS);
	}
	NEED(w->site[3]->guarded == 1000 && w->site[3]->drawn == 1000);
	NEED(w->site[3]->expected == 1000 * GMOD_CERTAIN);
}

/* ---- sites ---- */

/* Those that find no place are one site; the others are told apart as before. */
TEST_IN_CHILD(a_full_table_has_one_site_for_the_rest)
{
	enum { MANY = 3 * GMOD_SITES };
	struct world *w = open_world(ONE_PERCENT);
	struct gmod_site **site = calloc(MANY, sizeof(struct gmod_site *)), *s, *rest = NULL;
	struct gmod_sample_totals t;
	uint64_t others = 0;

	NEED(site);
	for (uint64_t i = 0; i < MANY; i++) {
		gmod_sample(key_of(i), w->now, &site[i]);
		NEED(site[i]->key == key_of(i) || (site[i]->key == 0 && (!rest || rest == site[i])));
		rest = site[i]->key ? rest : site[i];
		others += !site[i]->key;
	}
	gmod_sample_totals(&t);
	NEED(t.sites > GMOD_SITES * 9 / 10 && t.sites <= GMOD_SITES + 1);
	NEED(rest && rest->allocations == others && others == MANY - (t.sites - 1));
	for (uint64_t i = 0; i < MANY; i++) {
		gmod_sample(key_of(i), w->now, &s);
		NEED(s == site[i] && (s == rest || s->allocations == 2));
	}
	free(site);
}
