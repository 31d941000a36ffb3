/* What threads launch, and whether it is all proven done. Nothing here touches a driver. */
#include "monitor/launches/launch.h"

#include <sys/syscall.h>

#include "monitor/launches/proof.h"
#include "tests/unit/support.h"

/* Contexts and streams are numbers like the driver's pointers; each test has its own. */
static uint64_t next_handle = 0x555500001000;

static uint64_t new_handle(void)
{
	return next_handle += 0x1000;
}

static struct gmod_thread *self(void)
{
	return gmod_thread_self();
}

static void launch(uint64_t context, uint64_t stream)
{
	gmod_launch_end(self(), gmod_launch_begin(self(), context, stream, 0x77, false), true);
}

static unsigned thread_records(void)
{
	unsigned n = 0;

	for (const struct gmod_thread *t = gmod_threads(); t; t = t->next)
		n++;
	return n;
}

TEST(a_thread_has_one_record)
{
	const struct gmod_thread *t = gmod_threads();

	assert_null(t);
	assert_ptr_equal(self(), self());
	assert_ptr_equal(self(), gmod_threads());
	assert_null(self()->next);
	assert_int_equal(self()->tid, syscall(SYS_gettid));
	assert_true(atomic_load(&self()->in_use));
	assert_false(gmod_work_outstanding());
}

TEST(everything_noted_is_counted)
{
	uint64_t before = gmod_activity_total();

	for (int i = 1; i <= 100; i++) {
		gmod_note_activity(self());
		assert_int_equal(gmod_activity_total(), before + (uint64_t)i);
	}
	launch(new_handle(), new_handle());
	assert_int_equal(gmod_activity_total(), before + 101);
	gmod_launch_end(self(), gmod_launch_begin(self(), 1, 1, 1, false), false);
	assert_int_equal(gmod_activity_total(), before + 102);
}

TEST(a_sleeping_monitor_is_woken)
{
	atomic_store(&gmod_hot.sleeping, 1);
	gmod_note_activity(self());
	assert_int_equal(atomic_load(&gmod_hot.sleeping), 0);
	gmod_note_activity(self());
	assert_int_equal(atomic_load(&gmod_hot.sleeping), 0);
}

static void prove_all(uint64_t context)
{
	gmod_prove_context(context, gmod_ticks());
}

/* Nothing is outstanding any more when that is. */
static void prove_the_rest(uint64_t context)
{
	prove_all(context);
	assert_false(gmod_work_outstanding());
}

TEST(a_launch_is_outstanding_until_it_is_proven)
{
	uint64_t context = new_handle(), stream = new_handle(), other = new_handle(), before;
	struct gmod_launch *l;

	for (struct gmod_thread *t = gmod_threads(); t; t = t->next)
		for (int i = 0; i < GMOD_STREAMS_PER_THREAD; i++)
			prove_all(t->last[i].context);
	assert_false(gmod_work_outstanding());
	before = gmod_ticks();
	l = gmod_launch_begin(self(), context, stream, 0x77, false);
	assert_true(gmod_work_outstanding());
	/* A wait that began before the launch call returned says nothing about it. */
	gmod_prove_stream(stream, gmod_ticks());
	assert_true(gmod_work_outstanding());
	gmod_launch_end(self(), l, true);
	assert_true(gmod_work_outstanding());
	gmod_prove_stream(stream, before);
	gmod_prove_stream(other, gmod_ticks());
	gmod_prove_context(new_handle(), gmod_ticks());
	assert_true(gmod_work_outstanding());
	gmod_prove_stream(stream, gmod_ticks());
	assert_false(gmod_work_outstanding());
	/* The next one on the same stream is not covered by that. */
	launch(context, stream);
	assert_true(gmod_work_outstanding());
	gmod_prove_context(context, gmod_ticks());
	assert_false(gmod_work_outstanding());
}

TEST(a_refused_launch_is_not_outstanding)
{
	uint64_t context = new_handle(), stream = new_handle();
	struct gmod_launch *l = gmod_launch_begin(self(), context, stream, 0x77, true);

	assert_true(gmod_work_outstanding());
	gmod_launch_end(self(), l, false);
	assert_false(gmod_work_outstanding());
	assert_int_equal(atomic_load(&l->ticks), GMOD_NOT_LAUNCHED);
	/* It takes nothing away from one that was accepted. */
	launch(context, stream);
	gmod_launch_end(self(), gmod_launch_begin(self(), context, stream, 0x77, false), false);
	assert_true(gmod_work_outstanding());
	prove_the_rest(context);
}

TEST(every_stream_is_proven_for_itself)
{
	uint64_t context = new_handle(), streams[GMOD_STREAMS_PER_THREAD];

	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < GMOD_STREAMS_PER_THREAD; i++) {
			streams[i] = new_handle();
			launch(context, streams[i]);
		}
		for (int i = 0; i < GMOD_STREAMS_PER_THREAD; i++) {
			assert_true(gmod_work_outstanding());
			gmod_prove_stream(streams[(i * 7) % GMOD_STREAMS_PER_THREAD], gmod_ticks());
		}
		/* Had a stream found no slot, only its context could prove it. */
		assert_false(gmod_work_outstanding());
	}
}

/* With more streams than there are slots, stream by stream proves nothing any more; the context does. */
TEST(too_many_streams_are_proven_by_their_context_only)
{
	enum { MANY = 3 * GMOD_STREAMS_PER_THREAD };
	uint64_t context = new_handle(), streams[MANY];

	for (int i = 0; i < MANY; i++) {
		streams[i] = new_handle();
		launch(context, streams[i]);
	}
	for (int i = 0; i < MANY; i++)
		gmod_prove_stream(streams[i], gmod_ticks());
	assert_true(gmod_work_outstanding());
	prove_the_rest(context);
	launch(context, streams[0]);
	assert_true(gmod_work_outstanding());
	prove_the_rest(context);
}

TEST(records_hold_the_latest_launches)
{
	uint64_t context = new_handle(), stream = new_handle(), first = atomic_load(&self()->launches), last = 0;

	for (uint64_t i = 0; i < 3 * GMOD_RING + 7; i++) {
		struct gmod_launch *l = gmod_launch_begin(self(), context, stream, i, i % 2);

		assert_ptr_equal(l, &self()->ring[(first + i) % GMOD_RING]);
		assert_true(atomic_load(&l->ticks) == GMOD_IN_CALL);
		gmod_launch_end(self(), l, true);
	}
	assert_int_equal(atomic_load(&self()->launches), first + 3 * GMOD_RING + 7);
	for (uint64_t i = 2 * GMOD_RING + 7; i < 3 * GMOD_RING + 7; i++) {
		const struct gmod_launch *l = &self()->ring[(first + i) % GMOD_RING];

		assert_int_equal(l->function, i);
		assert_int_equal(l->is_graph, i % 2);
		assert_int_equal(l->context, context);
		assert_int_equal(l->stream, stream);
		assert_true(l->ticks >= last);
		last = l->ticks;
	}
	assert_true(last <= gmod_ticks());
	prove_the_rest(context);
}

/* ---- threads ---- */

static void *launch_and_end(void *context)
{
	launch((uint64_t)(uintptr_t)context, new_handle());
	return self();
}

static struct gmod_thread *run_for(void *(*body)(void *), uint64_t context)
{
	return in_a_thread(body, (void *)(uintptr_t)context);
}

/* What a thread launched may run on when the thread has ended. */
TEST(launches_outlive_their_thread)
{
	uint64_t context = new_handle(), next = new_handle();
	struct gmod_thread *second;
	struct gmod_thread *first = run_for(launch_and_end, context);
	unsigned records = thread_records();

	assert_ptr_not_equal(first, self());
	assert_false(atomic_load(&first->in_use));
	assert_true(gmod_work_outstanding());
	/* Another thread takes the record over, with what is outstanding in it. */
	second = run_for(launch_and_end, next);
	assert_ptr_equal(first, second);
	assert_int_equal(thread_records(), records);
	prove_all(next);
	assert_true(gmod_work_outstanding());
	prove_the_rest(context);
}

static void *launch_and_be_cancelled(void *context)
{
	gmod_launch_begin(self(), (uint64_t)(uintptr_t)context, new_handle(), 0x77, false);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	return NULL;
}

/* What it may have launched can be proven done like anything else. */
TEST(a_thread_may_end_inside_a_launch)
{
	uint64_t context = new_handle();

	assert_false(gmod_work_outstanding());
	assert_ptr_equal(run_for(launch_and_be_cancelled, context), PTHREAD_CANCELED);
	assert_true(gmod_work_outstanding());
	prove_the_rest(context);
}

static void *name_yourself(void *unused)
{
	assert_int_equal(self()->tid, syscall(SYS_gettid));
	return unused;
}

TEST(a_record_taken_over_has_the_new_threads_id)
{
	for (int i = 0; i < 5; i++)
		in_a_thread(name_yourself, NULL);
}

enum { THREADS = 8, LAUNCHES = SANITIZED ? 20000 : 200000 };
static _Atomic int ready;
static _Atomic uint64_t wrong;

/*
 * Each thread has a stream of its own, launches and proves; while a launch of its is not proven there is work
 * outstanding, whatever the others do. It looks while its own is in the call, and when it has been accepted.
 */
static void *launch_and_prove(void *arg)
{
	uint64_t context = 0x1000 * (1 + (uint64_t)(uintptr_t)arg), stream = context + 0x10;

	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < THREADS)
		sched_yield();
	for (int i = 0; i < LAUNCHES; i++) {
		struct gmod_launch *l = gmod_launch_begin(self(), context, stream, 1, false);

		wrong += i % 8 == 0 && !gmod_work_outstanding();
		gmod_launch_end(self(), l, true);
		wrong += i % 8 == 0 && !gmod_work_outstanding();
		if (i % 3 == 0)
			gmod_prove_stream(stream, gmod_ticks());
	}
	prove_all(context);
	return NULL;
}

TEST(threads_do_not_disturb_each_other)
{
	uint64_t before = gmod_activity_total();

	in_threads(THREADS, launch_and_prove);
	assert_int_equal(wrong, 0);
	assert_int_equal(gmod_activity_total(), before + THREADS * LAUNCHES);
	assert_false(gmod_work_outstanding());
	assert_true(thread_records() <= THREADS + 2);
}

/*
 * Launches of two contexts beyond the slots cannot be told apart: no one context proves them. The last test, for it
 * leaves work outstanding.
 */
TEST(two_crowded_contexts_are_not_proven_by_one)
{
	uint64_t context = new_handle(), other = new_handle();

	for (int i = 0; i < GMOD_STREAMS_PER_THREAD; i++)
		launch(context, new_handle());
	launch(context, new_handle());
	launch(other, new_handle());
	launch(context, new_handle());
	prove_all(context);
	assert_true(gmod_work_outstanding());
}

FIXTURE(start)
{
	gmod_thread_init(gmod_launch_abandon);
	return 0;
}

static CMFixtureFunction group_setup = start;
