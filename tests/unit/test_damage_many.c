/* Many findings at once: numbers, counts and final reports, also with many threads, and more than there is room for. */

#include "tests/unit/sighting.h"

TEST(findings_are_numbered_and_counted)
{
	struct buffer b = plain_buffer(), c = plain_buffer();
	unsigned seen = gmod_finding_count();
	uint32_t id = gmod_finding_next_id();

	assert_int_equal(gmod_finding_count(), seen + 1);
	begin_work();
	see(&b, 0, 1);
	see(&c, 0, 1);
	see(&c, 0, 1);
	/* Seen, though only provisionally reported. */
	assert_int_equal(gmod_finding_count(), seen + 3);
	assert_int_equal(take_reports(many, 2), 2);
	assert_int_equal(many[0].id, id + 1);
	assert_int_equal(many[1].id, id + 2);
	end_work();
	gmod_damage_settle(false);
	assert_int_equal(take_reports(many, 2), 2);
	assert_int_equal(gmod_finding_next_id(), id + 3);
	free_buffer(&b);
	free_buffer(&c);
}

TEST(more_than_can_be_watched_are_final_at_once)
{
	enum { MANY = 300 };
	static struct buffer buffers[MANY];
	unsigned provisional = 0, n;

	begin_work();
	for (int i = 0; i < MANY; i++) {
		buffers[i] = plain_buffer();
		see(&buffers[i], 5, 5);
	}
	n = take_reports(many, MANY);
	assert_int_equal(n, MANY);
	gmod_damage_settle(true);
	n += take_reports(many + n, 2048 - MANY);
	for (unsigned i = 0; i < n; i++)
		provisional += !many[i].final;
	assert_int_equal(count_finals(many, n), MANY);
	assert_true(provisional >= 100 && provisional < MANY);
	assert_false(gmod_damage_pending());
	end_work();
	free_quietly(buffers, MANY);
}

TEST(what_is_pending_is_known_by_its_position)
{
	struct buffer b = plain_buffer(), d = plain_buffer();
	uint32_t at[GMOD_DAMAGES];

	assert_int_equal(gmod_damage_open(false, at, GMOD_DAMAGES), 0);
	begin_work();
	see(&b, 5, 5);
	see(&d, 5, 5);
	assert_int_equal(gmod_damage_open(false, at, 1), 1);
	assert_int_equal(gmod_damage_open(false, at, GMOD_DAMAGES), 2);
	assert_true(at[0] == b.record->position || at[1] == b.record->position);
	assert_true(at[0] == d.record->position || at[1] == d.record->position);
	end_work();
	gmod_damage_settle(false);
	assert_int_equal(gmod_damage_open(false, at, GMOD_DAMAGES), 0);
	assert_int_equal(take_reports(many, 4), 4);
	free_buffer(&b);
	free_buffer(&d);
}

/* ---- threads ---- */

enum { THREADS = 6, ROUNDS = 40 };
static atomic_bool stop;

static void *damage_and_free(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 1;

	for (int i = 0; i < ROUNDS; i++) {
		struct buffer b = plain_buffer();

		for (uint64_t k = 1; k <= 4; k++)
			see(&b, 0, k);
		if (i % 2)
			see(&b, -8, 8);
		if (random_below(&seed, 2))
			gmod_damage_settle(false);
		see_last(&b, 0, 5);
		free_buffer(&b);
	}
	return NULL;
}

static void *settle(void *unused)
{
	for (int i = 0; !atomic_load(&stop); i++) {
		gmod_damage_settle(i % 2);
		wants_slack();
	}
	return unused;
}

TEST(every_finding_of_many_threads_is_final_once)
{
	pthread_t settler = begin_thread(settle, NULL);
	unsigned before = gmod_finding_count(), n;

	begin_work();
	in_threads(THREADS, damage_and_free);
	atomic_store(&stop, true);
	end_thread(settler);
	end_work();
	gmod_damage_settle(true);
	assert_int_equal(gmod_finding_count() - before, THREADS * ROUNDS * 3 / 2);
	n = take_reports(many, 2048);
	assert_int_equal(count_finals(many, n), THREADS * ROUNDS * 3 / 2);
}

static CMFixtureFunction group_setup = start_watching, group_teardown = end_gmod;
