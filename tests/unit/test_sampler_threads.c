/* Which allocations are guarded, where several threads ask at once. Each test has a process of its own. */
#include "tests/unit/sampling.h"

/* A place in the table and a number among the keys that would have it: a key. The factor's inverse undoes the hash. */
static uint64_t key_at(uint64_t place, uint64_t number)
{
	uint64_t inverse = GMOD_HASH_FACTOR;

	for (int i = 0; i < 5; i++)
		inverse *= 2 - GMOD_HASH_FACTOR * inverse;
	return (place * (UINT64_MAX / GMOD_SITES + 1) + number) * inverse;
}

enum { RACES = SANITIZED ? 200 : 2000 };
static _Atomic uint64_t arrived;

static void *take_places(void *argument)
{
	for (uint64_t i = 0; i < RACES; i++) {
		uint64_t key = key_at(i * 4, 1 + (uint64_t)(uintptr_t)argument);
		struct gmod_site *s;

		atomic_fetch_add(&arrived, 1);
		for (int spins = 0; atomic_load(&arrived) < 2 * (i + 1); spins++)
			if (spins > 1000)
				sched_yield();
		gmod_sample(key, SECOND, &s);
	}
	return NULL;
}

TEST_IN_CHILD(a_place_is_taken_once)
{
	struct gmod_sample_totals t;

	begin(0);
	in_threads(2, take_places);
	for (uint64_t i = 0; i < 2 * RACES; i++) {
		struct gmod_site *s;

		gmod_sample(key_at(i / 2 * 4, 1 + i % 2), SECOND, &s);
		CHECK(s->allocations == 2, "%lu: %lu", i, s->allocations);
	}
	gmod_sample_totals(&t);
	NEED(t.sites == 2 * RACES && t.sites_guarded == 0);
}

enum { THREADS = 8, KEYS = 3000, TURNS = SANITIZED ? 40000 : 400000 };
static _Atomic uint64_t the_time = 1000 * SECOND, kept, given_back, wrong;

static void *sample_and_count(void *argument)
{
	uint64_t numbers = (uint64_t)(uintptr_t)argument + 1;

	for (int i = 0; i < TURNS; i++) {
		uint64_t key = key_of(random_below(&numbers, KEYS));
		struct gmod_site *s;
		bool chosen = gmod_sample(key, atomic_fetch_add(&the_time, 5 * US), &s);

		wrong += s->key != key;
		if (chosen && random_below(&numbers, 4) == 0) {
			gmod_sample_take_back(s);
			given_back++;
		} else if (chosen) {
			gmod_sample_spent(12 * US, 3 * US);
			kept++;
		}
	}
	return NULL;
}

TEST_IN_CHILD(threads_count_together)
{
	uint64_t allocations = 0, chosen = 0, guarded = 0;
	struct gmod_sample_totals t;

	begin(ONE_PERCENT);
	gmod_sample_begin(the_time);
	in_threads(THREADS, sample_and_count);
	NEED(wrong == 0);
	gmod_sample_totals(&t);
	NEED(t.sites == KEYS);
	/* To see them without a choice more. */
	set_rate(0);
	for (uint64_t i = 0; i < KEYS; i++) {
		struct gmod_site *s;

		gmod_sample(key_of(i), 0, &s);
		allocations += s->allocations - 1;
		chosen += s->firsts + s->drawn;
		guarded += s->guarded;
		NEED(s->firsts <= GMOD_SITE_FIRSTS && s->drawn <= s->draws);
	}
	NEED(allocations == (uint64_t)THREADS * TURNS);
	CHECK(guarded == kept && chosen == kept + given_back, "%lu of %lu guarded, %lu", guarded, chosen, kept);
	/* 16 s, and those that came while a window ended: some more where threads are slow. */
	CHECK(kept * 12 * US <= (uint64_t)THREADS * TURNS * 5 * US / 100 * 120 / 100 + 2 * MS, "%lu", kept);
	CHECK(kept * 12 * US >= (uint64_t)THREADS * TURNS * 5 * US / 100 * 75 / 100, "%lu", kept);
}
