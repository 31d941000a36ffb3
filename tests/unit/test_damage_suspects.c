/* Who could have done it: what a final report says of the launches that were under suspicion at first sight. */
#include "monitor/launches/graphs.h"
#include "monitor/launches/names.h"
#include "monitor/launches/suspects.h"
#include "tests/unit/sighting.h"

enum { OTHER_STREAM = 0x5300, ANOTHER_KERNEL = 0x5400 };

static void launch_on(uint64_t stream, uint64_t function)
{
	struct gmod_thread *t = gmod_thread_self();

	gmod_launch_end(t, gmod_launch_begin(t, TEST_CONTEXT, stream, function, false), true);
}

static void check_suspect(const struct report *r, long launches, long unfinished)
{
	CHECK(number_of(r->suspects, "\"launches\":") == launches &&
		  number_of(r->suspects, "\"unfinished\":") == unfinished,
	      "not %ld, %ld: %s", launches, unfinished, r->suspects);
}

static void take_suspect(bool final, long launches, long unfinished)
{
	struct report r = take_one(final);

	check_suspect(&r, launches, unfinished);
}

/* Nothing of earlier tests is under suspicion: the next buffer was intact after all of it was done. */
static void forget_the_past(void)
{
	gmod_prove_context(TEST_CONTEXT, gmod_ticks());
	gmod_proof_remember();
}

TEST(a_final_report_says_what_is_done_by_then)
{
	struct buffer b;
	struct report r;

	forget_the_past();
	b = plain_buffer();
	launch_on(TEST_STREAM, 0x5200);
	launch_on(OTHER_STREAM, 0x5200);
	see(&b, 0, 1);
	r = take_one(false);
	check_suspect(&r, 2, 2);
	CHECK(strstr(r.suspects, "\"stream\":null"), "%s", r.suspects); /* several */
	gmod_prove_stream(OTHER_STREAM, gmod_ticks());
	/* It comes later, and is not among the suspects. */
	launch_on(TEST_STREAM, 0x5200);
	gmod_damage_settle(true);
	take_suspect(true, 2, 1);
	end_work();
	free_quietly(&b, 1);
}

TEST(a_kernel_in_a_graph_is_a_suspect_of_its_own)
{
	enum { GRAPH = 0x5600 };
	struct gmod_thread *t = gmod_thread_self();
	struct buffer b;
	struct report r;

	forget_the_past();
	b = plain_buffer();
	gmod_graph_learn(GRAPH, (const uint64_t[]){0x5200}, 1);
	launch_on(TEST_STREAM, 0x5200);
	gmod_launch_end(t, gmod_launch_begin(t, TEST_CONTEXT, TEST_STREAM, GRAPH, true), true);
	see(&b, 0, 1);
	r = take_one(false);
	check_suspect(&r, 1, 1);
	CHECK(strstr(r.suspects, "\"graph\":\"0x5600\"") && strstr(r.suspects, "\"graph\":null"), "%s", r.suspects);
	gmod_damage_settle(true);
	take_suspect(true, 1, 1);
	end_work();
	free_quietly(&b, 1);
}

static void launch_wide(uint32_t blocks)
{
	struct gmod_thread *t = gmod_thread_self();
	struct gmod_launch *l = gmod_launch_begin(t, TEST_CONTEXT, TEST_STREAM, 0x5200, false);

	atomic_store(&l->grid[0], blocks);
	gmod_launch_end(t, l, true);
}

TEST(a_suspect_has_the_shape_of_its_latest_launch)
{
	struct buffer b;
	struct report r;

	forget_the_past();
	b = plain_buffer();
	launch_wide(3);
	launch_wide(7);
	see(&b, 0, 1);
	r = take_one(false);
	CHECK(number_of(r.suspects, "\"grid\":[") == 7, "%s", r.suspects);
	gmod_damage_settle(true);
	take_suspect(true, 2, 2);
	end_work();
	free_quietly(&b, 1);
}

TEST(kernels_beyond_those_that_are_told_are_counted)
{
	struct buffer b;
	struct report r;
	char name[8];

	forget_the_past();
	b = plain_buffer();
	for (unsigned i = 0; i < GMOD_SUSPECTS_MAX + 3; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		gmod_name_learn(0x5500 + i, name, 0);
		launch_on(TEST_STREAM, 0x5500 + i);
	}
	see(&b, 0, 1);
	r = take_one(false);
	CHECK(number_of(r.suspects, "\"suspects_omitted\":") == 3, "%s", r.suspects);
	gmod_damage_settle(true);
	assert_int_equal(take_reports(many, 1), 1);
	end_work();
	free_quietly(&b, 1);
}

TEST(a_suspect_is_known_when_its_record_is_gone)
{
	struct buffer b, c;

	forget_the_past();
	b = plain_buffer();
	c = plain_buffer();
	launch_on(TEST_STREAM, 0x5200);
	see(&b, 0, 1);
	see(&c, 0, 1);
	assert_int_equal(take_reports(many, 2), 2);
	for (int i = 0; i < 2 * GMOD_RING; i++)
		launch_on(OTHER_STREAM, ANOTHER_KERNEL);
	free_buffer(&b);
	take_suspect(true, 1, 1);
	end_work();
	free_buffer(&c);
	take_suspect(true, 1, 0);
	gmod_prove_context(TEST_CONTEXT, gmod_ticks());
}

/* A thread's record of a launch gives its place to a later one, done or not; the kernel is known all the same. */
TEST(launches_whose_records_are_gone_are_counted)
{
	struct buffer b;
	struct report r;

	forget_the_past();
	b = plain_buffer();
	for (int i = 0; i < 3 * GMOD_RING; i++)
		launch_on(TEST_STREAM, 0x5200);
	launch_on(OTHER_STREAM, 0x5200);
	see(&b, 0, 1);
	r = take_one(false);
	check_suspect(&r, 3 * GMOD_RING + 1, 3 * GMOD_RING + 1);
	assert_int_equal(number_of(r.suspects, "\"launches_lost\":"), 0);
	gmod_prove_stream(TEST_STREAM, gmod_ticks());
	gmod_damage_settle(true);
	take_suspect(true, 3 * GMOD_RING + 1, 1);
	end_work();
	free_quietly(&b, 1);
}

TEST(a_launch_seen_in_its_call_is_followed)
{
	struct gmod_thread *t = gmod_thread_self();
	struct gmod_launch *l;
	struct buffer b, c, d;

	forget_the_past();
	b = plain_buffer();
	c = plain_buffer();
	d = plain_buffer();
	l = gmod_launch_begin(t, TEST_CONTEXT, TEST_STREAM, 0x5200, false);
	see(&b, 0, 1);
	see(&c, 0, 1);
	see(&d, 0, 1);
	assert_int_equal(take_reports(many, 3), 3);
	check_suspect(&many[0], 1, 1);
	free_buffer(&b);
	take_suspect(true, 1, 1);
	gmod_launch_end(t, l, true);
	free_buffer(&c);
	take_suspect(true, 1, 1);
	end_work();
	free_buffer(&d);
	take_suspect(true, 1, 0);
}

/* ---- several launches, several kernels ---- */

static struct gmod_finding suspects_now(void)
{
	static struct gmod_suspect suspects[GMOD_SUSPECTS_MAX];
	struct gmod_finding f = {.suspect = suspects, .suspect_room = GMOD_SUSPECTS_MAX};

	gmod_suspects_find(&f, &(struct gmod_window){.intact = gmod_ticks()}, NULL);
	return f;
}

static void launch_shaped(uint64_t stream, uint64_t function, uint32_t number)
{
	struct gmod_thread *t = gmod_thread_self();
	struct gmod_launch *l = gmod_launch_begin(t, TEST_CONTEXT, stream, function, false);

	for (uint32_t i = 0; i < 3; i++) {
		atomic_store(&l->grid[i], number + i);
		atomic_store(&l->block[i], 2 * number + i);
	}
	gmod_launch_end(t, l, true);
}

static void check_latest(uint64_t stream, uint32_t number, uint64_t launches)
{
	struct gmod_finding f = suspects_now();
	const struct gmod_suspect *s = &f.suspect[0];

	CHECK(f.suspect_count == 1 && s->launches == launches, "%u suspects, %llu launches", f.suspect_count,
	      (unsigned long long)s->launches);
	CHECK(s->stream == stream, "%#llx", (unsigned long long)s->stream);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(s->grid[i] == number + i && s->block[i] == 2 * number + i, "%u: %u, %u", i, s->grid[i],
		      s->block[i]);
}

static void *launch_elsewhere(void *unused)
{
	launch_shaped(OTHER_STREAM, 0x5200, 3);
	return unused;
}

/* Whichever thread's it is. */
TEST(of_several_launches_of_a_kernel_the_latest_is_described)
{
	pthread_t thread;

	forget_the_past();
	launch_shaped(TEST_STREAM, 0x5200, 1);
	check_latest(TEST_STREAM, 1, 1);
	launch_shaped(OTHER_STREAM, 0x5200, 2);
	check_latest(GMOD_SEVERAL_STREAMS, 2, 2);
	assert_int_equal(pthread_create(&thread, NULL, launch_elsewhere, NULL), 0);
	pthread_join(thread, NULL);
	check_latest(GMOD_SEVERAL_STREAMS, 3, 3);
	launch_shaped(TEST_STREAM, 0x5200, 4);
	check_latest(GMOD_SEVERAL_STREAMS, 4, 4);
	forget_the_past();
}

TEST(of_many_kernels_the_latest_are_named_and_the_others_counted)
{
	enum { KERNELS = 70, FIRST = 0x9000 };
	struct gmod_finding f;
	char name[8];

	forget_the_past();
	for (unsigned i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		gmod_name_learn(FIRST + i, name, 0);
		launch_on(TEST_STREAM, FIRST + i);
	}
	f = suspects_now();
	assert_int_equal(f.suspect_count, GMOD_SUSPECTS_MAX);
	for (unsigned i = 0; i < GMOD_SUSPECTS_MAX; i++) {
		snprintf(name, sizeof(name), "k%u", KERNELS - 1 - i);
		assert_string_equal(f.suspect[i].name, name);
	}
	assert_int_equal(f.suspects_omitted, KERNELS - GMOD_SUSPECTS_MAX);
	forget_the_past();
}

static CMFixtureFunction group_setup = start_watching, group_teardown = end_gmod;
