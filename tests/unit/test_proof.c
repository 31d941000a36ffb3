/*
 * What the program's waits and queries prove: all of what they do, nothing of what they do not. A wrong proof would let
 * the monitor sleep while a kernel writes, and clear a kernel that is guilty; a lost one costs a sweep.
 */
#include "monitor/launches/proof.h"

#include "monitor/launches/launch.h"
#include "tests/unit/proving.h"
#include "tests/unit/support.h"

/* Every test has its own. */
static uint64_t context, stream, other, event, t;

FIXTURE(new_handles)
{
	context = new_handle();
	stream = new_handle();
	other = new_handle();
	event = new_handle();
	t = later();
	return 0;
}

#define PROOF(test) TEST_FIXTURE(test, new_handles, NULL)

/* All that came before that time, and nothing that came then. */
static void check_proven(uint64_t of_context, uint64_t of_stream, uint64_t before)
{
	assert_true(gmod_proven(of_context, of_stream, before - 1));
	assert_false(gmod_proven(of_context, of_stream, before));
}

/* By this thread; returns its number and *stamp. */
static uint64_t launch_on(uint64_t stream, uint64_t *stamp)
{
	struct gmod_thread *self = gmod_thread_self();
	struct gmod_launch *l = gmod_launch_begin(self, context, stream, 1, false);

	gmod_launch_end(self, l, true);
	*stamp = atomic_load(&l->ticks);
	return atomic_load(&self->launches) - 1;
}

static bool was_complete(uint64_t number, uint64_t at)
{
	return gmod_launch_complete(gmod_thread_self(), number, at);
}

/* ---- streams and contexts ---- */

PROOF(a_stream_is_proven_up_to_when_the_wait_began)
{
	assert_false(gmod_proven(context, stream, t));
	gmod_prove_stream(stream, t);
	check_proven(context, stream, t);
	assert_false(gmod_proven(context, stream, t + 1));
	assert_false(gmod_proven(context, other, t - 1));
	assert_false(gmod_proven(context, 0, t - 1));
	assert_true(gmod_proven(new_handle(), stream, t - 1));
	/* It only grows. */
	gmod_prove_stream(stream, t - 5);
	assert_true(gmod_proven(context, stream, t - 1));
	gmod_prove_stream(stream, t + 5);
	check_proven(context, stream, t + 5);
}

PROOF(a_context_is_proven_with_all_its_streams)
{
	gmod_prove_context(context, t);
	assert_true(gmod_proven(context, stream, t - 1));
	assert_true(gmod_proven(context, 0, t - 1));
	assert_false(gmod_proven(context, stream, t));
	assert_false(gmod_proven(context, 0, t));
	assert_false(gmod_proven(other, stream, t - 1));
	assert_false(gmod_proven(other, 0, t - 1));
	assert_false(gmod_proven(GMOD_NO_CONTEXT, 0, t - 1));
}

PROOF(a_launch_in_its_call_is_never_proven)
{
	gmod_prove_context(context, UINT64_MAX);
	gmod_prove_stream(stream, UINT64_MAX);
	assert_false(gmod_proven(context, stream, GMOD_IN_CALL));
	assert_true(gmod_proven(context, stream, GMOD_IN_CALL - 1));
}

static uint64_t key_in_thread;

static void *key_of_per_thread(void *context)
{
	key_in_thread = gmod_stream_key(0, GMOD_PER_THREAD, (uint64_t)(uintptr_t)context);
	return NULL;
}

PROOF(default_streams_are_of_a_context_and_a_thread)
{
	uint64_t handle = new_handle();
	uint64_t legacy = gmod_stream_key(0, GMOD_LEGACY, context);
	uint64_t mine = gmod_stream_key(0, GMOD_PER_THREAD, context);

	assert_true(gmod_stream_key(handle, GMOD_LEGACY, context) == handle);
	assert_true(gmod_stream_key(handle, GMOD_PER_THREAD, other) == handle);
	/* CU_STREAM_LEGACY and CU_STREAM_PER_THREAD say it whatever the entry point's flavour. */
	assert_true(gmod_stream_key(1, GMOD_LEGACY, context) == legacy);
	assert_true(gmod_stream_key(1, GMOD_PER_THREAD, context) == legacy);
	assert_true(gmod_stream_key(2, GMOD_LEGACY, context) == mine);
	assert_true(gmod_stream_key(2, GMOD_PER_THREAD, context) == mine);
	assert_true(legacy != mine && legacy && mine);
	assert_true(gmod_stream_key(0, GMOD_LEGACY, other) != legacy);
	assert_true(gmod_stream_key(0, GMOD_PER_THREAD, other) != mine);
	in_a_thread(key_of_per_thread, (void *)(uintptr_t)context);
	assert_true(key_in_thread != mine && key_in_thread != legacy);
	/* A stream's proof is not its context's, nor the other way round through the key. */
	gmod_prove_stream(legacy, later());
	assert_false(gmod_proven(context, 0, now - 1));
	assert_false(gmod_proven(context, mine, now - 1));
	assert_true(gmod_proven(context, legacy, now - 1));
}

/* Of 4 million threads each has a default stream of its own, which a report can name again. */
TEST(no_two_threads_share_a_default_stream)
{
	enum { NUMBERS = 1 << 22, STEP = 4096 };
	struct gmod_thread *t = gmod_thread_self();
	uint64_t context = 0x7f0012345670, legacy = gmod_stream_key(0, GMOD_LEGACY, context);
	uint64_t number = t->number;
	static uint64_t keys[NUMBERS / STEP];

	assert_int_equal(gmod_stream_handle(legacy, context), 1);
	assert_int_equal(gmod_stream_handle(context + 0x100, context), context + 0x100);
	assert_int_equal(gmod_stream_handle(0x7f0012345680, context), 0x7f0012345680);
	for (unsigned i = 0; i < NUMBERS / STEP; i++) {
		t->number = 1 + i * STEP;
		keys[i] = gmod_stream_key(0, GMOD_PER_THREAD, context);
		CHECK(gmod_stream_handle(keys[i], context) == 2, "thread %lu", t->number);
		CHECK(keys[i] != legacy, "thread %lu", t->number);
		for (unsigned k = 0; k < i; k++)
			CHECK(keys[k] != keys[i], "threads %u and %u", 1 + k * STEP, 1 + i * STEP);
	}
	t->number = number;
}

/* ---- events ---- */

PROOF(an_event_proves_what_came_before_its_record)
{
	struct gmod_event_proof p = gmod_event_covers(event);

	assert_int_equal(p.stream, 0);
	gmod_prove_event(&p);
	assert_false(gmod_proven(context, stream, t - 1));
	gmod_event_forget(event);
	gmod_event_recorded(event, stream, t);
	p = gmod_event_covers(event);
	assert_true(p.stream == stream && p.ticks == t && p.event == event);
	assert_false(gmod_proven(context, stream, t - 1));
	gmod_prove_event(&p);
	check_proven(context, stream, t);
	/* A second wait for it is as good. */
	p = gmod_event_covers(event);
	assert_true(p.stream == stream && p.ticks == t);
}

PROOF(an_event_recorded_anew_no_longer_proves_its_old_place)
{
	struct gmod_event_proof old, new;

	gmod_event_recorded(event, stream, t);
	old = gmod_event_covers(event);
	/* The driver is being asked; meanwhile another thread begins to record. */
	gmod_event_forget(event);
	gmod_prove_event(&old);
	assert_false(gmod_proven(context, stream, t - 1));
	new = gmod_event_covers(event);
	assert_int_equal(new.stream, 0);
	gmod_event_recorded(event, other, t + 2);
	gmod_prove_event(&old);
	gmod_prove_event(&new);
	assert_false(gmod_proven(context, stream, t - 1));
	assert_false(gmod_proven(context, other, t - 1));
	gmod_stream_waits(stream, &old, t + 3);
	gmod_prove_stream(stream, t + 4);
	assert_false(gmod_proven(context, other, t - 1));
	new = gmod_event_covers(event);
	assert_true(new.stream == other &&new.ticks == t + 2);
	gmod_prove_event(&new);
	assert_true(gmod_proven(context, other, t + 1));
}

PROOF(a_forgotten_event_proves_nothing)
{
	struct gmod_event_proof p;

	gmod_event_forget(event); /* never seen */
	gmod_event_recorded(event, stream, t);
	gmod_event_forget(event);
	gmod_event_forget(event);
	p = gmod_event_covers(event);
	assert_int_equal(p.stream, 0);
	gmod_prove_event(&p);
	assert_false(gmod_proven(context, stream, t - 1));
}

/* Another process may have recorded it meanwhile, elsewhere: the driver may speak of that. */
PROOF(an_event_of_several_processes_proves_nothing)
{
	struct gmod_event_proof before, after;

	gmod_event_recorded(event, stream, t);
	before = gmod_event_covers(event);
	gmod_event_shared(event);
	gmod_prove_event(&before);
	gmod_event_forget(event);
	gmod_event_recorded(event, stream, t);
	after = gmod_event_covers(event);
	assert_int_equal(after.stream, 0);
	assert_false(gmod_proven(context, stream, t - 1));
	/* Its handle may be a new event's. */
	gmod_event_destroyed(event);
	gmod_event_recorded(event, stream, t);
	after = gmod_event_covers(event);
	gmod_prove_event(&after);
	assert_true(gmod_proven(context, stream, t - 1));
}

/* More events than the table holds: each stands for its own record, or for nothing. */
PROOF(events_never_stand_for_anothers_record)
{
	enum { EVENTS = 20000 };
	uint64_t first = last_handle + 0x140, known = 0;

	for (uint64_t i = 0; i < EVENTS; i++)
		gmod_event_recorded(new_handle(), stream + i, t + i);
	for (uint64_t i = 0; i < EVENTS; i++) {
		struct gmod_event_proof p = gmod_event_covers(first + i * 0x140);

		CHECK(!p.stream || (p.stream == stream + i && p.ticks == t + i && p.event == first + i * 0x140),
		      "event %lu stands for %#lx, %lu", i, p.stream, p.ticks);
		known += p.stream != 0;
	}
	CHECK(known > 1000, "%lu known", known);
	now += EVENTS;
}

/* ---- edges ---- */

static void make_wait(uint64_t stream, uint64_t other, uint64_t covered, uint64_t after)
{
	uint64_t event = new_handle();
	struct gmod_event_proof p;

	gmod_event_recorded(event, other, covered);
	p = gmod_event_covers(event);
	gmod_stream_waits(stream, &p, after);
}

PROOF(a_wait_for_an_event_passes_its_proof_on)
{
	uint64_t covered = later(), after = later();

	make_wait(stream, other, covered, after);
	/* Work that was on the stream before the wait does not follow it. */
	gmod_prove_stream(stream, after);
	assert_false(gmod_proven(context, other, covered - 1));
	gmod_prove_stream(stream, after + 1);
	check_proven(context, other, covered);
	/* Not the other way round. */
	gmod_prove_stream(other, after + 5);
	assert_false(gmod_proven(context, stream, after + 2));
}

PROOF(waits_are_followed_along_a_chain)
{
	uint64_t streams[3] = {new_handle(), new_handle(), new_handle()};

	make_wait(streams[1], streams[0], t, t + 1);
	make_wait(streams[2], streams[1], t + 2, t + 3);
	gmod_prove_stream(streams[2], t + 4);
	assert_true(gmod_proven(context, streams[1], t + 1));
	check_proven(context, streams[0], t);
	later();
}

PROOF(a_stream_follows_what_it_waits_for)
{
	uint64_t streams[4] = {new_handle(), new_handle(), new_handle(), new_handle()};

	make_wait(streams[1], streams[0], t + 2, t + 4);
	assert_true(gmod_stream_follows(streams[1], streams[0], t + 1));
	assert_false(gmod_stream_follows(streams[1], streams[0], t + 2));
	make_wait(streams[2], streams[1], t + 5, t + 6);
	assert_true(gmod_stream_follows(streams[2], streams[0], t + 1));
	/* What the other stream had been given before it waited itself. */
	make_wait(streams[3], streams[1], t + 3, t + 6);
	assert_false(gmod_stream_follows(streams[3], streams[0], t + 1));
	now += 10;
}

PROOF(streams_that_wait_for_each_other_end_the_search)
{
	uint64_t a = new_handle(), b = new_handle();

	for (uint64_t i = 0; i < 40; i += 2) {
		make_wait(a, b, t + i, t + i + 1);
		make_wait(b, a, t + i + 1, t + i + 2);
	}
	make_wait(a, a, t + 40, t + 41);
	now += 50;
	gmod_prove_stream(a, t + 42);
	check_proven(context, b, t + 38);
	assert_false(gmod_proven(context, b, t + 45));
}

/* A stream remembers its latest waits: more of them lose proofs, never invent any. */
PROOF(waits_beyond_the_table_are_dropped)
{
	enum { WAITS = 100 };
	uint64_t others[WAITS];

	for (uint64_t i = 0; i < WAITS; i++) {
		others[i] = new_handle();
		make_wait(stream, others[i], t + 3 * i, t + 3 * i + 1);
	}
	gmod_prove_stream(stream, t + 3 * WAITS);
	for (uint64_t i = 0; i < WAITS; i++)
		CHECK(!gmod_proven(context, others[i], t + 3 * i), "wait %lu", i);
	assert_true(gmod_proven(context, others[WAITS - 1], t + 3 * (WAITS - 1) - 1));
	now += 3 * WAITS;
}

/* ---- ends and limits ---- */

PROOF(a_new_stream_of_an_old_handle_proves_nothing_old)
{
	uint64_t launched, t;

	launch_on(stream, &launched);
	make_wait(stream, other, launched, launched + 1);
	gmod_prove_stream(stream, launched);
	gmod_stream_destroyed(stream);
	t = gmod_ticks();
	/* The handle is given out again, and that stream is waited for. */
	gmod_prove_stream(stream, t + 10);
	assert_false(gmod_proven(context, stream, launched));
	assert_false(gmod_proven(context, other, launched - 1));
	assert_true(gmod_proven(context, stream, t + 5));
	assert_false(gmod_proven(context, stream, t + 10));
	gmod_stream_destroyed(new_handle()); /* never seen */
	/* The context still proves it all. */
	gmod_prove_context(context, t + 20);
	assert_true(gmod_proven(context, stream, launched));
}

/* Returns when that was done. */
static uint64_t remember(void)
{
	gmod_proof_remember();
	return gmod_ticks();
}

PROOF(what_was_proven_stays_so_when_its_stream_goes)
{
	uint64_t launched, number = launch_on(stream, &launched);

	gmod_prove_stream(stream, gmod_ticks());
	gmod_stream_destroyed(stream);
	assert_true(gmod_proven(context, stream, launched));
	assert_false(was_complete(number, gmod_ticks()));
	assert_true(was_complete(number, remember()));
	/* A wait of the old stream is none of the new one's. */
	make_wait(stream, other, t, gmod_ticks());
	gmod_stream_destroyed(stream);
	gmod_prove_stream(stream, t);
	assert_false(gmod_proven(context, other, t - 1));
}

/* Streams that come and go, more than any table holds, while a launch runs for which nobody waits. */
TEST(streams_that_come_and_go_leave_nothing_behind)
{
	enum { MANY = 100000, LOOK = 50 };
	uint64_t launched, started, number, then = 0;

	context = new_handle();
	other = new_handle();
	launch_on(other, &started);
	for (unsigned i = 0; i < MANY; i++) {
		stream = new_handle();
		launch_on(stream, &launched);
		gmod_prove_stream(stream, gmod_ticks());
		gmod_stream_destroyed(stream);
		CHECK(gmod_proven(context, stream, launched), "stream %u", i);
		if (i % LOOK == 0)
			gmod_proof_remember();
	}
	number = atomic_load(&gmod_thread_self()->launches);
	then = remember();
	for (uint64_t i = number - (GMOD_RING - 1); i < number; i++)
		CHECK(was_complete(i, then), "launch %lu", i);
	assert_false(gmod_proven(context, other, started));
	assert_true(gmod_work_outstanding());
	gmod_prove_stream(other, started + 1);
	assert_false(gmod_work_outstanding());
}

/* What a stream that is gone left running is not proven by another one of its handle, whatever comes between. */
TEST(what_runs_on_keeps_the_place_of_its_stream)
{
	enum { MANY = 20000 };
	uint64_t launched, started;

	context = new_handle();
	other = new_handle();
	launch_on(other, &started);
	gmod_stream_destroyed(other);
	for (unsigned i = 0; i < MANY; i++) {
		stream = new_handle();
		gmod_prove_stream(stream, gmod_ticks());
		gmod_stream_destroyed(stream);
		gmod_proof_remember();
	}
	gmod_prove_stream(other, gmod_ticks());
	assert_false(gmod_proven(context, other, started));
	launch_on(other, &launched);
	gmod_prove_stream(other, launched + 1);
	assert_true(gmod_proven(context, other, launched));
	gmod_prove_context(context, launched + 1);
	assert_true(gmod_proven(context, other, started));
}

/* More streams at a time than a thread has places for, each waited for by itself. */
TEST(a_crowd_of_streams_is_proven_one_by_one)
{
	enum { CROWD = 3 * GMOD_STREAMS_PER_THREAD };
	uint64_t streams[CROWD], launched;

	context = new_handle();
	for (unsigned turn = 0; turn < 20; turn++) {
		for (unsigned i = 0; i < CROWD; i++)
			launch_on(streams[i] = turn ? streams[i] : new_handle(), &launched);
		gmod_proof_remember();
		gmod_proof_remember();
		assert_true(gmod_work_outstanding());
		for (unsigned i = 0; i < CROWD; i++)
			gmod_prove_stream(streams[i], gmod_ticks());
		gmod_proof_remember();
		gmod_proof_remember();
		assert_false(gmod_work_outstanding());
	}
}

PROOF(the_past_is_what_was_proven_then)
{
	uint64_t stamp[3], number[3], first, second, third;

	for (int i = 0; i < 3; i++)
		number[i] = launch_on(stream, &stamp[i]);
	first = remember();
	gmod_prove_stream(stream, stamp[1]);
	second = remember();
	gmod_prove_context(context, stamp[2]);
	assert_false(was_complete(number[0], first));
	assert_false(was_complete(number[0], second - 1000000000));
	assert_true(was_complete(number[0], second));
	assert_false(was_complete(number[1], second));
	third = remember();
	assert_true(was_complete(number[1], third));
	assert_true(was_complete(number[1], third + 1000));
	assert_false(was_complete(number[1], second));
	assert_false(was_complete(number[2], third));
	assert_false(was_complete(number[2] + 1, third));
	/* However long ago that was. */
	for (int i = 0; i < 100; i++)
		gmod_proof_remember();
	assert_true(was_complete(number[0], second));
	assert_false(was_complete(number[0], first));
	gmod_prove_context(context, stamp[2] + 1);
}

/* ---- a full table ---- */

/* The last test: the table of streams is full afterwards. */
PROOF(a_full_table_drops_proofs_and_invents_none)
{
	enum { MANY = 20000 };
	uint64_t unproven = new_handle(), proven = 0;

	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t stream = 0x7e0000000000 + i * 0x40;

		if (i % 2)
			gmod_prove_stream(stream, t + i % 7);
	}
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t stream = 0x7e0000000000 + i * 0x40;

		CHECK(i % 2 || !gmod_proven(context, stream, t - 1), "stream %lu", i);
		CHECK(!gmod_proven(context, stream, t + i % 7), "stream %lu", i);
		proven += gmod_proven(context, stream, t - 1);
	}
	CHECK(proven > 100, "%lu", proven);
	/* Contexts, edges and destructions go the same way. */
	gmod_prove_context(context, t);
	make_wait(unproven, new_handle(), t, t + 1);
	gmod_stream_destroyed(unproven);
	assert_false(gmod_proven(new_handle(), unproven, t - 1));
}
