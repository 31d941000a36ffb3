/* Proofs that threads make, ask for and take back at the same time: what is proven was complete. */
#include "monitor/launches/proof.h"

#include "lib/base/clock.h"
#include "monitor/launches/launch.h"
#include "tests/unit/proving.h"
#include "tests/unit/support.h"

/* ---- work that is outstanding ---- */

static atomic_ulong launched; /* odd: a launch has begun that is not proven */
static atomic_bool over;

/* How often nothing was, from when a launch began until it was proven. */
static void *watch_work(void *missed)
{
	while (!atomic_load(&over)) {
		unsigned long n = atomic_load(&launched);

		if (n % 2 && !gmod_work_outstanding() && atomic_load(&launched) == n)
			++*(unsigned long *)missed;
	}
	return NULL;
}

/* First of all, when no launch of another test is outstanding. */
TEST(a_launch_is_outstanding_from_its_call_until_it_is_proven)
{
	enum { LAUNCHES = SANITIZED ? 100000 : 1000000 };
	uint64_t context = new_handle(), stream = new_handle();
	struct gmod_thread *self = gmod_thread_self();
	unsigned long missed = 0;
	pthread_t thread = begin_thread(watch_work, &missed);

	for (unsigned i = 0; i < LAUNCHES; i++) {
		struct gmod_launch *l = gmod_launch_begin(self, context, stream, 1, false);

		atomic_fetch_add(&launched, 1);
		gmod_launch_end(self, l, true);
		atomic_fetch_add(&launched, 1);
		gmod_prove_context(context, gmod_ticks());
		assert_false(gmod_work_outstanding());
	}
	atomic_store(&over, true);
	end_thread(thread);
	assert_int_equal(missed, 0);
}

/* ---- one place in the table ---- */

/*
 * Threads that record events of one place in the table write over each other's words, whole or half: what is read is
 * one of the records that were made, of the event that was asked for, or nothing.
 */
enum { RECORDERS = 3, LOOKS = 300 };

static struct {
	uint64_t event[RECORDERS], stream, ticks;
	atomic_bool stop;
} crowd;

static uint64_t event_at_the_place_of(uint64_t event, uint64_t stream)
{
	uint64_t other;

	do {
		gmod_event_recorded(event, stream, 1);
		other = new_handle();
		gmod_event_recorded(other, stream, 1);
	} while (gmod_event_covers(event).stream);
	return other;
}

/* One event after the other, so that what is half written stands behind another's. The ticks say which and where. */
static cpu_set_t one_cpu(void)
{
	cpu_set_t before, one;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	return before;
}

static void *record_often(void *number)
{
	unsigned n = (unsigned)(uintptr_t)number;

	for (uint64_t i = 0; !atomic_load_explicit(&crowd.stop, memory_order_relaxed); i++) {
		n = (n + 1) % RECORDERS;
		gmod_event_forget(crowd.event[n]);
		gmod_event_recorded(crowd.event[n], crowd.stream + i, crowd.ticks + i * RECORDERS + n);
	}
	return NULL;
}

static unsigned check_place(void)
{
	unsigned known = 0;

	for (unsigned n = 0; n < RECORDERS; n++) {
		struct gmod_event_proof p = gmod_event_covers(crowd.event[n]);
		uint64_t since = p.ticks - crowd.ticks;

		known += p.stream != 0;
		CHECK(!p.stream || (since % RECORDERS == n && p.stream == crowd.stream + since / RECORDERS),
		      "event %u stands for stream %lu, %lu", n, p.stream - crowd.stream, since);
	}
	return known;
}

/*
 * All on one CPU: a thread that loses it in the middle of a record leaves that half written for as long as the others
 * have it, and they look.
 */
TEST(words_of_two_records_are_no_record)
{
	pthread_t thread[RECORDERS];
	unsigned long known = 0;
	cpu_set_t before = one_cpu();

	crowd.stream = new_handle() << 16;
	crowd.ticks = later();
	crowd.event[0] = new_handle();
	for (unsigned n = 1; n < RECORDERS; n++)
		crowd.event[n] = event_at_the_place_of(crowd.event[0], crowd.stream);
	gmod_event_forget(crowd.event[RECORDERS - 1]);
	atomic_store(&crowd.stop, false);
	for (unsigned n = 0; n < RECORDERS; n++)
		thread[n] = begin_thread(record_often, (void *)(uintptr_t)n);
	for (unsigned i = 0; i < LOOKS; i++) {
		known += check_place();
		usleep(1000);
	}
	atomic_store(&crowd.stop, true);
	for (unsigned n = 0; n < RECORDERS; n++)
		end_thread(thread[n]);
	sched_setaffinity(0, sizeof(before), &before);
	CHECK(known, "nothing was known at any time");
	now += UINT64_C(1) << 40;
}

/* ---- a driver in small ---- */

enum { STREAMS = 6, EVENTS = 12, QUERIERS = 3, RECORDS = SANITIZED ? 20000 : 200000 };

/*
 * A driver in small: streams that complete what was launched on them, in order, some time later. Time is one counter.
 * The real rule is checked at each step: what is proven was complete.
 */
static struct {
	uint64_t stream[STREAMS], event[EVENTS], context;
	_Atomic uint64_t complete[STREAMS]; /* everything launched before this time */
	_Atomic uint64_t record[EVENTS];    /* time << 3 | stream, of the driver's own record */
	_Atomic uint64_t time;
	atomic_bool stop;
	_Atomic uint64_t wrong, proofs;
} gpu;

static uint64_t tick(void)
{
	return atomic_fetch_add(&gpu.time, 1) + 1;
}

static void *complete(void *unused)
{
	uint64_t seed = 41;

	while (!atomic_load(&gpu.stop)) {
		unsigned s = (unsigned)random_below(&seed, STREAMS);
		uint64_t done = atomic_load(&gpu.complete[s]), behind = atomic_load(&gpu.time) - done;

		atomic_store(&gpu.complete[s], done + random_below(&seed, behind + 1));
	}
	return unused;
}

/* Is what the library takes for proven complete? complete[] only grows, so it may be read afterwards. */
static void check_proofs(uint64_t *seed)
{
	unsigned s = (unsigned)random_below(seed, STREAMS);
	uint64_t done = atomic_load(&gpu.complete[s]), back = random_below(seed, 4) * random_below(seed, 50);
	uint64_t t = done + random_below(seed, 3) - (back < done ? back : 0);

	if (gmod_proven(gpu.context, gpu.stream[s], t)) {
		atomic_fetch_add(&gpu.proofs, 1);
		if (atomic_load(&gpu.complete[s]) <= t)
			atomic_fetch_add(&gpu.wrong, 1);
	}
}

/* One thread records each event, as cuEventRecord does. */
static void record(unsigned e, unsigned s)
{
	uint64_t began;

	gmod_event_forget(gpu.event[e]);
	began = tick();
	atomic_store(&gpu.record[e], tick() << 3 | s);
	gmod_event_recorded(gpu.event[e], gpu.stream[s], began);
}

/* For so long, and until something was proven meanwhile: on a busy machine the others may wait for their turn. */
static void *record_events(void *unused)
{
	uint64_t seed = 42;

	for (int i = 0; i < RECORDS || (i < 100 * RECORDS && atomic_load(&gpu.proofs) < 100); i++) {
		record((unsigned)random_below(&seed, EVENTS), (unsigned)random_below(&seed, STREAMS));
		for (uint64_t pause = random_below(&seed, 200); pause > 0; pause--)
			_mm_pause();
	}
	return unused;
}

static bool is_complete(unsigned e)
{
	uint64_t record = atomic_load(&gpu.record[e]);

	return atomic_load(&gpu.complete[record & 7]) > record >> 3;
}

static void *query_events(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 43;

	while (!atomic_load(&gpu.stop)) {
		unsigned e = (unsigned)random_below(&seed, EVENTS);
		struct gmod_event_proof p = gmod_event_covers(gpu.event[e]);

		if (is_complete(e))
			gmod_prove_event(&p);
		check_proofs(&seed);
	}
	return NULL;
}

TEST(proofs_hold_while_events_are_recorded_anew)
{
	pthread_t gpu_thread, querier[QUERIERS];

	gpu.context = new_handle();
	atomic_store(&gpu.time, now);
	for (int i = 0; i < STREAMS; i++)
		gpu.stream[i] = new_handle();
	for (unsigned i = 0; i < EVENTS; i++) {
		gpu.event[i] = new_handle();
		record(i, i % STREAMS);
	}
	gpu_thread = begin_thread(complete, NULL);
	for (uintptr_t i = 0; i < QUERIERS; i++)
		querier[i] = begin_thread(query_events, (void *)i);
	in_a_thread(record_events, NULL);
	atomic_store(&gpu.stop, true);
	end_thread(gpu_thread);
	for (int i = 0; i < QUERIERS; i++)
		end_thread(querier[i]);
	assert_int_equal(gpu.wrong, 0);
	CHECK(gpu.proofs > 0, "nothing was ever proven");
	now = atomic_load(&gpu.time);
}

enum { COPIES = SANITIZED ? 5000 : 20000, SPREAD = 16 };

static atomic_uint copies, asked;

static void pause_for(unsigned n)
{
	while (n--)
		_mm_pause();
}

static void *remember(void *unused)
{
	while (!atomic_load(&gpu.stop)) {
		unsigned before;

		gmod_proof_remember();
		atomic_fetch_add(&copies, 1);
		/* Only so many copies are kept: who asks comes before they have all been made anew. */
		before = atomic_load(&asked);
		while (atomic_load(&asked) - before < 2 && !atomic_load(&gpu.stop))
			sched_yield();
	}
	return unused;
}

/* Threads that have one busy CPU between them take turns as rarely as the scheduler likes. */
static bool is_late(uint64_t began)
{
	return gmod_monotonic_ns() - began > 4000000000;
}

/* Sweeps remember while other threads, which free, ask about the past. */
TEST(the_past_may_be_asked_by_any_thread)
{
	struct gmod_thread *self = gmod_thread_self();
	uint64_t context = new_handle(), stream[SPREAD]; /* first and last ones in the table */
	uint64_t began;
	pthread_t thread;

	for (int i = 0; i < SPREAD; i++)
		stream[i] = new_handle();
	atomic_store(&gpu.stop, false);
	thread = begin_thread(remember, NULL);
	began = gmod_monotonic_ns();
	for (unsigned i = 0; atomic_load(&copies) < COPIES && (i % 256 || !is_late(began)); i++) {
		struct gmod_launch *l = gmod_launch_begin(self, context, stream[i % SPREAD], 1, false);
		uint64_t then;

		gmod_launch_end(self, l, true);
		pause_for(i % 61); /* so that a look may begin here, where we have no lock */
		then = gmod_ticks();
		gmod_prove_stream(stream[i % SPREAD], then);
		assert_true(gmod_proven(context, stream[i % SPREAD], atomic_load(&l->ticks)));
		/* Nor does a look that was being taken. */
		CHECK(!gmod_launch_complete(self, atomic_load(&self->launches) - 1, then), "step %d", i);
		atomic_fetch_add(&asked, 1);
	}
	atomic_store(&gpu.stop, true);
	end_thread(thread);
}
