#include "lib/base/sampler.h"

#include "lib/base/clock.h"
#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/hash.h"

#define WINDOW GMOD_MILLISECONDS(100)
#define FULL (WINDOW + WINDOW / 4)      /* what it gives is the most that the bucket holds */
#define EARLIER GMOD_SECONDS(10)        /* of the time before the first window, so much counts at most */
#define MOST (GMOD_MILLISECONDS(1) / 5) /* what takes longer, and four pairs' time, was made once or had to wait */
#define ALL (100u * GMOD_PERCENT_ONE)

enum {
	PROBES = 32,          /* places of the table that a site may have */
	PAIR_ASSUMED = 12000, /* ns, while few have been seen */
	PAIRS_ASSUMED = 8,
	MEMORY = 8,  /* windows */
	FADES = 512, /* likewise: the first one's balance */
	FINE = 1024, /* parts of a pair, so that a few fade evenly, too */
	RUN = 8,     /* draws that are chosen together */
};

static struct gmod_site sites[GMOD_SITES + 1]; /* the last one for those that find no place */
static uint64_t began;                         /* ns; set before any other thread is there */

/*
 * The window that goes on. `turning` is held by who ends it and begins the next; who finds it taken goes on with the
 * old one. Of the members that a turn changes one after the other, readers may see some as they were: a few choices
 * more or less, and balance_at() errs towards less.
 */
static struct {
	_Atomic uint64_t start;          /* ns */
	_Atomic int64_t balance;         /* ns at the start; below 0: a debt */
	_Atomic int64_t owed;            /* ns at the start: what was chosen and has not cost its price yet */
	_Atomic uint64_t thread, stream; /* ns spent since */
	_Atomic uint64_t pairs;          /* chosen since; below 0, modulo 2^64: more were taken back */
	_Atomic int64_t price;           /* ns a pair */
	_Atomic int64_t first, planned;  /* number of its first draw, and how many draws it is to have */
	_Atomic uint64_t probability;    /* of these, in 2^-32 */
	_Atomic int64_t put_off;         /* above 0: a site's first one was, for want of balance, not long ago */
	atomic_bool turning;
	/* Of who holds `turning`. */
	int64_t busiest;                     /* most draws of a window, of late */
	int64_t cost_of_late, pairs_of_late; /* the sums of the last windows, older ones weighing less */
} window = {.price = PAIR_ASSUMED, .planned = 1};

static _Atomic uint64_t draws; /* so far, of all sites: numbers them */

#define GET(member) atomic_load_explicit(&window.member, memory_order_relaxed)
#define SET(member, value) atomic_store_explicit(&window.member, value, memory_order_relaxed)

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What so much time puts into the bucket. */
static int64_t share_of(int64_t ns)
{
	return larger(ns, 0) / ALL * gmod_options()->max_overhead;
}

/* What the bucket holds that nobody has been promised. */
static int64_t balance_at(uint64_t now_ns)
{
	int64_t held = GET(balance) + share_of((int64_t)(now_ns - GET(start)));
	int64_t spent = larger((int64_t)GET(thread), (int64_t)GET(stream));

	return held - larger(spent, GET(owed) + (int64_t)GET(pairs) * GET(price));
}

/* ---- windows ---- */

/* What a pair costs, from those of the last windows. */
static void set_price(int64_t cost, int64_t pairs)
{
	window.cost_of_late += cost - window.cost_of_late / MEMORY;
	window.pairs_of_late = larger(window.pairs_of_late - window.pairs_of_late / MEMORY + pairs * FINE, 0);
	SET(price, (window.cost_of_late + PAIRS_ASSUMED * PAIR_ASSUMED) * FINE /
		       (window.pairs_of_late + PAIRS_ASSUMED * FINE));
}

/*
 * Half of what the bucket holds and will get is for draws: all of what a window gives where it holds as much, nothing
 * where it owes as much. Half of that where first ones of sites wait, which a burst may have behind all of its draws.
 */
static void set_probability(void)
{
	int64_t room = larger((share_of(WINDOW) + GET(balance)) / (GET(put_off) > 0 ? 4 : 2), 0);
	int64_t price = larger(GET(price), 1);
	int64_t next = (int64_t)atomic_load_explicit(&draws, memory_order_relaxed), planned;

	window.busiest = larger(next - GET(first), window.busiest - window.busiest / MEMORY);
	planned = larger(window.busiest, room / price + 1);
	SET(probability, ((uint64_t)room << 32) / (uint64_t)price / (uint64_t)planned);
	SET(planned, planned);
	SET(first, next);
	SET(put_off, larger(GET(put_off) - 1, 0));
}

static void turn(uint64_t now_ns)
{
	bool first = !GET(start);
	int64_t elapsed =
	    first ? larger(FULL, smaller((int64_t)(now_ns - began), EARLIER)) : (int64_t)(now_ns - GET(start));
	int64_t owed = GET(owed);
	/* What the first window had above it fades. */
	int64_t faded = GET(balance) - GET(balance) / FADES * smaller(elapsed / (int64_t)WINDOW, FADES);
	int64_t most = larger(share_of(FULL), first ? share_of(elapsed) : faded);
	uint64_t thread = GET(thread), stream = GET(stream), pairs = GET(pairs);
	int64_t cost = larger((int64_t)thread, (int64_t)stream);

	/* What never comes is forgotten, after a while. */
	owed -= owed / MEMORY * smaller(elapsed / (int64_t)WINDOW, MEMORY);
	SET(start, now_ns);
	/* Many threads that all wait make a debt of minutes in a moment: nobody would be guarded meanwhile. */
	SET(balance, larger(smaller(GET(balance) + share_of(elapsed) - cost, most), -share_of(EARLIER)));
	SET(owed, larger(owed + (int64_t)pairs * GET(price) - cost, 0));
	gmod_count(&window.thread, -thread);
	gmod_count(&window.stream, -stream);
	gmod_count(&window.pairs, -pairs);
	set_price(cost, (int64_t)pairs);
	set_probability();
}

static void turn_if_over(uint64_t now_ns)
{
	/* acquire and release: who turns next finds what this one left */
	if ((int64_t)(now_ns - GET(start)) < (int64_t)WINDOW ||
	    atomic_exchange_explicit(&window.turning, true, memory_order_acquire))
		return;
	if ((int64_t)(now_ns - GET(start)) >= (int64_t)WINDOW)
		turn(now_ns);
	atomic_store_explicit(&window.turning, false, memory_order_release);
}

/* ---- sites ---- */

static struct gmod_site *find(uint64_t key)
{
	uint64_t at = gmod_hash(key) / (UINT64_MAX / GMOD_SITES + 1);

	for (int i = 0; i < PROBES; i++) {
		struct gmod_site *s = &sites[(at + i) % GMOD_SITES];
		uint64_t found = atomic_load_explicit(&s->key, memory_order_relaxed);

		if (found == key || (!found && (atomic_compare_exchange_strong_explicit(
						    &s->key, &found, key, memory_order_relaxed, memory_order_relaxed) ||
						found == key)))
			return s;
	}
	return &sites[GMOD_SITES];
}

/* Where two threads want the same one, one goes without. */
static bool take_first(struct gmod_site *s, uint64_t n, uint64_t now_ns)
{
	if (balance_at(now_ns) <= 0) {
		SET(put_off, 2 * MEMORY);
		return false;
	}
	return atomic_compare_exchange_strong_explicit(&s->firsts, &n, n + 1, memory_order_relaxed,
						       memory_order_relaxed);
}

/*
 * Where there are more draws than the window was to have, the probability falls to a quarter each time that their
 * number doubles: all together they cost half as much again at most, however many come, and none is impossible.
 */
static uint64_t probability_of(uint64_t draw)
{
	int64_t before = (int64_t)draw - GET(first), planned = GET(planned);

	if (gmod_options()->max_overhead >= ALL)
		return GMOD_CERTAIN;
	if (before < planned)
		return GET(probability);
	return GET(probability) >> smaller(2 * (64 - __builtin_clzll((uint64_t)(before / planned))), 33);
}

uint64_t gmod_random(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + gmod_hash(n + 1);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/*
 * Draws in a row are chosen together, for the first of them finds nothing of what guarding takes in the CPU's caches:
 * one alone takes 25 to 35 us, one among others 8 to 11, and the same time guards half as many again so (measured
 * beside PyTorch).
 */
static bool draw(struct gmod_site *s)
{
	uint64_t number = atomic_fetch_add_explicit(&draws, 1, memory_order_relaxed);
	uint64_t probability = probability_of(number), first = (uint64_t)GET(first);
	/* A run ends with its window: what its beginning has cost makes the next one's probability. */
	bool chosen = gmod_random(gmod_hot.key[0], first + (number - first) / RUN) >> 32 < probability;

	gmod_count(&s->draws, 1);
	gmod_count(&s->expected, probability);
	if (chosen)
		gmod_count(&s->drawn, 1);
	return chosen;
}

/* ---- what the guard asks ---- */

void gmod_sample_begin(uint64_t now_ns)
{
	began = now_ns;
}

bool gmod_sample(uint64_t key, uint64_t now_ns, struct gmod_site **site)
{
	struct gmod_site *s = *site = find(key);
	uint64_t firsts = atomic_load_explicit(&s->firsts, memory_order_relaxed);
	unsigned rate = gmod_options()->max_overhead;

	gmod_count(&s->allocations, 1);
	if (!rate)
		return false;
	turn_if_over(now_ns);
	if (firsts < GMOD_SITE_FIRSTS && rate < ALL ? !take_first(s, firsts, now_ns) : !draw(s))
		return false;
	gmod_count(&s->guarded, 1);
	gmod_count(&window.pairs, 1);
	return true;
}

void gmod_sample_take_back(struct gmod_site *site)
{
	gmod_count(&site->guarded, -1ull);
	gmod_count(&window.pairs, (uint64_t)-1);
}

void gmod_sample_spent(uint64_t thread_ns, uint64_t stream_ns)
{
	gmod_count(&window.thread, (uint64_t)smaller((int64_t)thread_ns, larger(MOST, 4 * GET(price))));
	gmod_count(&window.stream, stream_ns);
}

void gmod_sample_totals(struct gmod_sample_totals *out)
{
	*out = (struct gmod_sample_totals){0};
	for (int i = 0; i <= GMOD_SITES; i++) {
		out->sites += atomic_load_explicit(&sites[i].allocations, memory_order_relaxed) > 0;
		out->sites_guarded += atomic_load_explicit(&sites[i].guarded, memory_order_relaxed) > 0;
	}
}
