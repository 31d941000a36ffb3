/*
 * Sweeps over buffers without a driver: every changed byte is found, where it is said to be, once; and looking at
 * canaries as a free, gmod_check() and the gather do it.
 */
#include "monitor/sweep.h"

#include <pthread.h>
#include <time.h>

#include "lib/log.h"
#include "monitor/monitor.h"
#include "monitor/names.h"
#include "monitor/verify.h"
#include "tests/unit/buffer.h"

static struct report many[4096];

static void sweep(void)
{
	if (!gmod_sweep_lock(1000000000))
		abort();
	gmod_sweep();
	gmod_sweep_unlock();
	gmod_watch_settle(false);
}

static void sweep_thoroughly(void)
{
	if (!gmod_sweep_lock(1000000000))
		abort();
	gmod_sweep_thorough(GMOD_PIN_SWEEP);
	gmod_sweep_unlock();
	gmod_watch_settle(false);
}

/* As lib/heap.c frees. */
static void free_buffer(struct buffer *b, enum gmod_verify what)
{
	struct gmod_moment swept = gmod_sweep_latest();

	CHECK(release_buffer(b), "%#lx", b->place.user);
	gmod_verify_released(b->record, what, NULL, swept);
	drop_buffer(b);
}

static void free_quietly(struct buffer *b)
{
	free_buffer(b, GMOD_VERIFY_ALL);
	take_none();
}

/* No slack, so that all of it is on the host. */
static struct buffer plain_buffer(void)
{
	return new_buffer(2 * gmod_page_size(), GMOD_MEM_DEVICE);
}

static struct buffer buffer_of_kind(int kind)
{
	if (kind == 0)
		return plain_buffer();
	return kind == 1 ? new_buffer(1001, GMOD_MEM_HOST) : new_buffer(512 * 9, GMOD_MEM_MANAGED);
}

/* The buffer's first changed byte, as a report counts. */
static void check_report(const struct report *r, const struct buffer *b, uint64_t first, long changed, long extent)
{
	bool tail = first >= b->place.user_end;
	long offset = (long)(first - (tail ? b->place.user_end : b->place.user));

	CHECK(r->tail == tail && r->offset == offset && r->changed == changed && r->extent == extent,
	      "%s %+ld, %ld changed, extent %ld; expected %+ld, %ld, %ld", r->tail ? "overflow" : "underflow",
	      r->offset, r->changed, r->extent, offset, changed, extent);
	CHECK(r->size == (long)(b->place.user_end - b->place.user), "%ld", r->size);
}

/* ---- regular sweeps ---- */

static void intact_buffers_are_quiet(void **unused)
{
	enum { BUFFERS = 60 };
	struct buffer buffers[BUFFERS];
	uint64_t before = atomic_load(&gmod_counters.sweeps);

	(void)unused;
	for (int i = 0; i < BUFFERS; i++)
		buffers[i] = i % 4 == 3 ? new_buffer((size_t)(i + 1) * 777, GMOD_MEM_DEVICE) : buffer_of_kind(i % 4);
	for (int i = 0; i < 300; i++)
		sweep();
	sweep_thoroughly();
	assert_int_equal(atomic_load(&gmod_counters.sweeps), before + 300);
	assert_false(gmod_watch_pending());
	for (int i = 0; i < BUFFERS; i++)
		free_quietly(&buffers[i]);
	assert_int_equal(gmod_watch_seen(), 0);
}

/* One byte of the line beside the user's bytes is seen by the next sweep, whichever it is. */
static void every_byte_of_the_line_is_seen_at_once(void **unused)
{
	(void)unused;
	for (int kind = 0; kind < 3; kind++)
		for (int i = 0; i < 2 * GMOD_LINE; i++) {
			struct buffer b = buffer_of_kind(kind);
			uint64_t at = i < GMOD_LINE ? b.place.body - 1 - (uint64_t)i
						    : b.place.zone_tail + (uint64_t)(i - GMOD_LINE);
			struct report r;

			sweep();
			take_none();
			damage(at, 1);
			sweep();
			if (gmod_watch_wants_slack())
				gmod_watch_settle(true); /* nobody gathers here */
			r = take_one(true);
			check_report(&r, &b, at, 1, 1);
			for (int k = 0; k < 3; k++)
				sweep();
			free_quietly(&b);
		}
}

/* Further out it takes some sweeps, each looks at some lines; and all of them come in turn, again and again. */
static void every_line_further_out_has_its_turn(void **unused)
{
	uint64_t lines = gmod_page_size() / GMOD_LINE, seed = 1;

	(void)unused;
	for (uint64_t i = 0; i < 2 * (lines - 1); i++) {
		struct buffer b = plain_buffer();
		uint64_t line = i % (lines - 1) + 1, off = line * GMOD_LINE + random_below(&seed, GMOD_LINE);
		uint64_t at = i < lines - 1 ? b.place.zone_tail + off : b.place.body - 1 - off;
		unsigned seen = gmod_watch_seen();
		struct report r;
		int sweeps = 0;

		damage(at, 1);
		for (; gmod_watch_seen() == seen && sweeps < 1000; sweeps++)
			sweep();
		CHECK(sweeps < 1000, "line %lu is never looked at", line);
		r = take_one(true);
		check_report(&r, &b, at, 1, 1);
		free_quietly(&b);
	}
}

static void a_hole_of_damage_is_seen_whole(void **unused)
{
	struct buffer b = plain_buffer();
	struct report r;

	(void)unused;
	/* In the line and further out, with intact bytes between: one finding, found by the line. */
	damage(b.place.zone_tail + 10, 3);
	damage(b.place.zone_tail + 2000, 5);
	damage(b.place.end - 1, 1);
	sweep();
	r = take_one(true);
	check_report(&r, &b, b.place.zone_tail + 10, 9, (long)(b.place.end - b.place.zone_tail) - 10);
	free_quietly(&b);
}

static void many_buffers_damaged_at_once_are_all_reported(void **unused)
{
	enum { BUFFERS = 500 };
	static struct buffer buffers[BUFFERS];
	unsigned n;

	(void)unused;
	for (int i = 0; i < BUFFERS; i++)
		buffers[i] = plain_buffer();
	for (int i = 0; i < BUFFERS; i++)
		damage(buffers[i].place.zone_tail, (size_t)i % 60 + 1);
	sweep();
	sweep();
	n = take_reports(many, 4096);
	assert_int_equal(n, BUFFERS);
	for (unsigned i = 0; i < n; i++)
		CHECK(many[i].final && many[i].changed == many[i].extent && many[i].offset == 0, "report %u", i);
	for (int i = 0; i < BUFFERS; i++)
		free_quietly(&buffers[i]);
}

/* ---- damage in the course of time ---- */

static void damage_that_grows_is_reported_whole(void **unused)
{
	struct buffer b = plain_buffer();
	struct report first, final;

	(void)unused;
	sweep();
	begin_work();
	damage(b.place.zone_tail + 8, 4);
	sweep();
	first = take_one(false);
	check_report(&first, &b, b.place.zone_tail + 8, 4, 4);
	for (uint64_t i = 0; i < 6; i++) {
		damage(b.place.zone_tail + 12 + i * 100, 4);
		sweep();
		sweep();
	}
	take_none();
	end_work();
	sweep();
	final = take_one(true);
	assert_int_equal(first.id, final.id);
	check_report(&final, &b, b.place.zone_tail + 8, 28, 508);
	free_quietly(&b);
}

static void damage_put_back_is_still_reported(void **unused)
{
	struct buffer b = plain_buffer();
	struct report r;

	(void)unused;
	begin_work();
	damage(b.place.body - 16, 16);
	sweep();
	r = take_one(false);
	check_report(&r, &b, b.place.body - 16, 16, 16);
	assert_false(r.restored);
	damage(b.place.body - 16, 16); /* as it was */
	sweep();
	end_work();
	sweep();
	r = take_one(true);
	check_report(&r, &b, b.place.body - 16, 16, 16);
	assert_true(r.restored);
	free_quietly(&b);
}

/* Far out no sweep compares each time, but what is pending is looked at by every one. */
static void pending_damage_is_followed_far_out(void **unused)
{
	struct buffer b = plain_buffer(), c = plain_buffer();
	uint64_t off = gmod_page_size() - 100;

	(void)unused;
	begin_work();
	damage(b.place.zone_tail + off, 4);
	damage(c.place.zone_tail + off, 4);
	sweep_thoroughly();
	assert_int_equal(take_reports(many, 2), 2);
	damage(b.place.zone_tail + off, 4); /* as it was */
	damage(c.place.zone_tail + off + 4, 20);
	end_work();
	sweep();
	assert_int_equal(take_reports(many, 2), 2);
	check_report(&many[many[0].restored], &c, c.place.zone_tail + off, 24, 24);
	check_report(&many[!many[0].restored], &b, b.place.zone_tail + off, 4, 4);
	assert_true(many[0].restored != many[1].restored);
	free_quietly(&b);
	free_quietly(&c);
}

static void a_record_used_again_is_guarded_again(void **unused)
{
	struct buffer b = plain_buffer();
	const struct gmod_record *record = b.record;
	struct report r;

	(void)unused;
	for (int i = 0; i < 4; i++) {
		assert_ptr_equal(b.record, record);
		damage(b.place.zone_tail + 1, 2);
		sweep();
		r = take_one(true);
		check_report(&r, &b, b.place.zone_tail + 1, 2, 2);
		free_quietly(&b);
		b = plain_buffer();
	}
	free_quietly(&b);
}

/* ---- other looks ---- */

static void a_thorough_sweep_sees_all_that_the_cpu_can(void **unused)
{
	(void)unused;
	for (int kind = 0; kind < 3; kind++) {
		struct buffer b = buffer_of_kind(kind);

		damage(b.place.zone_head, 1);
		damage(b.place.end - 1, 1);
		sweep_thoroughly();
		gmod_watch_settle(true);
		assert_int_equal(take_reports(many, 2), 2);
		check_report(&many[many[0].tail], &b, b.place.zone_head, 1, 1);
		check_report(&many[!many[0].tail], &b, b.place.end - 1, 1, 1);
		free_quietly(&b);
	}
}

static void a_free_sees_everything(void **unused)
{
	(void)unused;
	for (int kind = 0; kind < 3; kind++) {
		struct buffer b = buffer_of_kind(kind), copy;

		damage(b.place.user - 1, 1); /* in the slack, where there is some */
		damage(b.place.user_end, 1);
		copy = b;
		free_buffer(&b, GMOD_VERIFY_ALL);
		assert_int_equal(take_reports(many, 2), 2);
		check_report(&many[many[0].tail], &copy, copy.place.user - 1, 1, 1);
		check_report(&many[!many[0].tail], &copy, copy.place.user_end, 1, 1);
		take_none();
	}
}

/* A context that goes takes its device memory with it: only what lies on the host is looked at. */
static void slack_is_the_devices(void **unused)
{
	struct buffer b = new_buffer(5000, GMOD_MEM_DEVICE);

	(void)unused;
	assert_true(b.place.user > b.place.body && b.place.user_end < b.place.zone_tail);
	damage(b.place.user - 1, 1);
	damage(b.place.user_end, 1);
	damage(b.place.zone_tail - 1, 1);
	for (int i = 0; i < 200; i++)
		sweep();
	sweep_thoroughly();
	take_none();
	free_buffer(&b, GMOD_VERIFY_VISIBLE);
	take_none();
}

/* What the gather brings: the slack of one side, as it was copied. */
static void look_at_slack(const struct buffer *b, enum gmod_side side, uint8_t *copy)
{
	uint64_t from = side == GMOD_HEAD ? b->place.body : b->place.user_end;
	uint64_t to = side == GMOD_HEAD ? b->place.user : b->place.zone_tail;

	if (!gmod_sweep_lock(1000000000))
		abort();
	gmod_pin(GMOD_PIN_SWEEP, b->record->position);
	gmod_verify_copied(b->record, b->word, side, from, to, copy, gmod_now());
	gmod_unpin(GMOD_PIN_SWEEP);
	gmod_sweep_unlock();
	gmod_watch_settle(false);
}

static void copied_slack_is_compared(void **unused)
{
	static uint8_t copy[65536];

	(void)unused;
	for (int side = GMOD_HEAD; side <= GMOD_TAIL; side++)
		for (uint64_t at = 0; at < 120; at += 7) {
			struct buffer b = new_buffer(5000, GMOD_MEM_DEVICE);
			uint64_t from = side == GMOD_HEAD ? b.place.body : b.place.user_end;
			uint64_t size = side == GMOD_HEAD ? b.place.user - from : b.place.zone_tail - from;
			struct report r;

			memcpy(copy, byte_at(from), size);
			look_at_slack(&b, (enum gmod_side)side, copy);
			take_none();
			assert_true(atomic_load(&gmod_record_details(b.record)->slack_ns[side]) > 0);
			copy[at] ^= 1;
			look_at_slack(&b, (enum gmod_side)side, copy);
			/* Final with the second look, which began when there was something to see. */
			take_none();
			assert_true(gmod_watch_wants_slack());
			look_at_slack(&b, (enum gmod_side)side, copy);
			r = take_one(true);
			check_report(&r, &b, from + at, 1, 1);
			look_at_slack(&b, (enum gmod_side)side, copy);
			free_quietly(&b);
		}
}

/* An overflow that crosses the slack into the page behind it is one finding, whichever part is seen first. */
static void slack_and_zone_are_one_finding(void **unused)
{
	static uint8_t copy[65536];

	(void)unused;
	for (int first = 0; first < 2; first++) {
		struct buffer b = new_buffer(gmod_page_size() - 100, GMOD_MEM_DEVICE);
		uint64_t size = b.place.zone_tail - b.place.user_end;
		struct report r;

		assert_int_equal(size, 100);
		damage(b.place.user_end, 200);
		memcpy(copy, byte_at(b.place.user_end), size);
		if (first)
			sweep();
		take_none();
		look_at_slack(&b, GMOD_TAIL, copy);
		take_none();
		look_at_slack(&b, GMOD_TAIL, copy);
		r = take_one(true);
		assert_true(r.changed >= 100 && r.changed <= 200);
		check_report(&r, &b, b.place.user_end, r.changed, 200);
		sweep();
		free_quietly(&b);
	}
}

/* ---- since when, and who ---- */

static void check_stamp(const char *got, uint64_t ns)
{
	char expected[64];
	struct gmod_text t;

	gmod_text_init(&t, expected, sizeof(expected));
	gmod_text_stamp(&t, ns);
	CHECK(strstr(expected, got) && got[0], "%s, expected %s", got, expected);
}

static void a_line_was_intact_when_it_was_last_swept(void **unused)
{
	struct buffer b = plain_buffer(), c = plain_buffer();
	struct gmod_moment latest;
	struct report r;

	(void)unused;
	sweep();
	sweep();
	latest = gmod_sweep_latest();
	assert_true(latest.ns > gmod_record_details(b.record)->allocated_ns);
	damage(b.place.zone_tail, 1);
	sweep();
	r = take_one(true);
	check_stamp(r.intact, latest.ns);
	assert_true(strcmp(r.intact, r.seen) < 0);
	assert_true(gmod_sweep_latest().ns > latest.ns && gmod_sweep_latest().ticks > latest.ticks);
	/* Further out nothing is known but that it was written once. */
	damage(c.place.end - 3, 1);
	sweep_thoroughly();
	r = take_one(true);
	check_stamp(r.intact, gmod_record_details(c.record)->allocated_ns);
	free_quietly(&b);
	free_quietly(&c);
}

static void a_new_buffer_was_intact_when_it_was_made(void **unused)
{
	struct buffer b;
	struct report r;

	(void)unused;
	sweep();
	b = plain_buffer();
	damage(b.place.zone_tail, 1);
	sweep();
	r = take_one(true);
	check_stamp(r.intact, gmod_record_details(b.record)->allocated_ns);
	free_quietly(&b);
}

static void launch(uint64_t stream, uint64_t function)
{
	struct gmod_thread *t = gmod_thread_self();

	gmod_launch_close(t, gmod_launch_open(t, TEST_CONTEXT, stream, function, false), true);
}

static bool suspects(const struct report *r, const char *kernel)
{
	return strstr(r->suspects, kernel) != NULL;
}

/* Not who was launched since, but whoever was not known to be done when the line was last seen intact. */
static void suspects_are_those_that_could_have_written(void **unused)
{
	static const char *const names[] = {"proven_before", "long_running", "between_sweeps", "proven_between"};
	struct buffer b = plain_buffer();
	struct report r;

	(void)unused;
	for (uint64_t i = 0; i < 4; i++)
		gmod_name_learn(0x6000 + i * 16, names[i]);
	launch(0x7100, 0x6000);
	launch(0x7200, 0x6010);
	gmod_prove_stream(0x7100, gmod_ticks());
	sweep();
	sweep();
	launch(0x7100, 0x6020);
	launch(0x7300, 0x6030);
	gmod_prove_stream(0x7300, gmod_ticks());
	damage(b.place.zone_tail, 4);
	sweep();
	r = take_one(false);
	assert_false(suspects(&r, "proven_before"));
	assert_true(suspects(&r, "long_running"));
	assert_true(suspects(&r, "between_sweeps"));
	assert_true(suspects(&r, "proven_between"));
	gmod_prove_context(TEST_CONTEXT, gmod_ticks());
	sweep();
	r = take_one(true);
	free_quietly(&b);
	/* Now all of them are cleared. */
	sweep();
	b = plain_buffer();
	sweep();
	launch(0x7200, 0x6030);
	damage(b.place.zone_tail, 4);
	sweep();
	r = take_one(false);
	assert_true(suspects(&r, "proven_between") && !suspects(&r, "long_running") && !suspects(&r, "between_sweeps"));
	gmod_prove_context(TEST_CONTEXT, gmod_ticks());
	sweep();
	take_one(true);
	free_quietly(&b);
}

/* ---- the lock ---- */

static void *try_lock(void *timeout)
{
	bool got = gmod_sweep_lock(*(uint64_t *)timeout);

	if (got)
		gmod_sweep_unlock();
	return got ? timeout : NULL;
}

static bool others_get_the_lock(uint64_t timeout)
{
	pthread_t thread;
	void *got;

	assert_int_equal(pthread_create(&thread, NULL, try_lock, &timeout), 0);
	pthread_join(thread, &got);
	return got != NULL;
}

static void one_thread_sweeps_at_a_time(void **unused)
{
	struct gmod_moment start;

	(void)unused;
	assert_true(gmod_sweep_lock(0));
	assert_false(others_get_the_lock(0));
	start = gmod_now();
	assert_false(others_get_the_lock(30000000));
	assert_true(gmod_now().ns - start.ns >= 25000000);
	gmod_sweep_unlock();
	assert_true(others_get_the_lock(0));
	assert_true(others_get_the_lock(30000000));
}

/* ---- threads ---- */

enum { THREADS = 6, HELD = 40, ROUNDS = SANITIZED ? 300 : 1000 };
static atomic_bool stop;
static _Atomic unsigned damaged;

static void *sweep_on(void *unused)
{
	while (!atomic_load(&stop))
		sweep();
	return unused;
}

static void damage_some(const struct buffer *b, int i, uint64_t *seed)
{
	if (i % 4 == 0) {
		damage(b->place.zone_tail + random_below(seed, gmod_page_size() - 8), 8);
		atomic_fetch_add(&damaged, 1);
	}
	if (i % 8 == 0) {
		damage(b->place.body - 4, 4);
		atomic_fetch_add(&damaged, 1);
	}
}

/* Each thread holds some buffers, and frees one or another for a new one. */
static void *damage_and_free(void *arg)
{
	struct buffer held[HELD] = {0};
	uint64_t seed = (uint64_t)(uintptr_t)arg + 1;

	for (int i = 0; i < ROUNDS + HELD; i++) {
		struct buffer *b = &held[i < ROUNDS ? random_below(&seed, HELD) : (uint64_t)(i - ROUNDS)];

		if (b->memory) {
			damage_some(b, i, &seed);
			gmod_prove_context(TEST_CONTEXT, gmod_ticks());
			free_buffer(b, GMOD_VERIFY_ALL);
		}
		if (i < ROUNDS)
			*b = random_below(&seed, 2) ? plain_buffer() : new_buffer(3000, GMOD_MEM_DEVICE);
		if (i % 2)
			launch(0x7000 + (uint64_t)(uintptr_t)arg * 256, 0x6000);
	}
	gmod_prove_context(TEST_CONTEXT, gmod_ticks());
	return NULL;
}

static void buffers_freed_under_a_sweep_are_reported_once(void **unused)
{
	static unsigned final_of[100000];
	pthread_t thread[THREADS], sweeper;
	unsigned n, finals = 0;

	(void)unused;
	assert_int_equal(pthread_create(&sweeper, NULL, sweep_on, NULL), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, damage_and_free, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&stop, true);
	pthread_join(sweeper, NULL);
	assert_false(gmod_watch_pending());
	n = take_reports(many, 4096);
	for (unsigned i = 0; i < n; i++) {
		CHECK(many[i].id < 100000, "%ld", many[i].id);
		finals += many[i].final;
		final_of[many[i].id] += many[i].final;
		CHECK(final_of[many[i].id] <= 1, "finding %ld has two final reports", many[i].id);
	}
	assert_int_equal(finals, damaged);
}

/* ---- the monitor ---- */

static void wait_for_sweeps(uint64_t count)
{
	struct timespec nap = {0, 20000};

	for (int i = 0; i < 200000 && atomic_load(&gmod_counters.sweeps) < count; i++)
		nanosleep(&nap, NULL);
	CHECK(atomic_load(&gmod_counters.sweeps) >= count, "the monitor sleeps");
}

/* From here on the monitor's thread sweeps, too. */
static void activity_is_followed_by_a_sweep(void **unused)
{
	uint64_t before;

	(void)unused;
	gmod_monitor_ensure();
	gmod_monitor_ensure();
	for (int i = 0; i < 100; i++) {
		before = atomic_load(&gmod_counters.sweeps);
		gmod_note_activity(gmod_thread_self());
		wait_for_sweeps(before + 1);
	}
	/* The GPU is at rest, no memory is shared: it sleeps. */
	usleep(100000);
	before = atomic_load(&gmod_counters.sweeps);
	usleep(300000);
	CHECK(atomic_load(&gmod_counters.sweeps) == before, "%lu sweeps of a quiet heap",
	      atomic_load(&gmod_counters.sweeps) - before);
}

/* When a sweep has just ended and the monitor is about to sleep, or as much later as `pause` says. */
static void wait_for_the_end_of_a_sweep(uint64_t pause)
{
	uint64_t before = atomic_load(&gmod_counters.sweeps);

	gmod_note_activity(gmod_thread_self());
	for (uint64_t i = 0; i < 1000000000 && atomic_load(&gmod_counters.sweeps) == before; i++)
		_mm_pause();
	while (pause-- > 0)
		_mm_pause();
}

static void what_is_noted_while_the_monitor_falls_asleep_is_seen(void **unused)
{
	enum { BUFFERS = SANITIZED ? 200 : 800 };
	static struct buffer buffers[BUFFERS];
	uint64_t seed = 5;
	unsigned seen, n;

	(void)unused;
	for (int i = 0; i < BUFFERS; i++)
		buffers[i] = plain_buffer();
	for (int i = 0; i < 2 * BUFFERS; i++) {
		const struct buffer *b = &buffers[i / 2];

		wait_for_the_end_of_a_sweep(random_below(&seed, 80));
		seen = gmod_watch_seen();
		damage(i % 2 ? b->place.zone_tail : b->place.body - 1, 1);
		gmod_note_activity(gmod_thread_self());
		for (int k = 0; k < 20000 && gmod_watch_seen() == seen; k++)
			usleep(100);
		CHECK(gmod_watch_seen() == seen + 1, "the monitor sleeps, round %d", i);
	}
	for (int k = 0; k < 2000 && gmod_watch_pending(); k++)
		usleep(1000);
	usleep(20000);
	n = take_reports(many, 4096);
	assert_int_equal(n, 2 * BUFFERS);
	for (int i = 0; i < BUFFERS; i++)
		free_quietly(&buffers[i]);
}

static void a_stopped_monitor_sweeps_no_more(void **unused)
{
	uint64_t before;

	(void)unused;
	gmod_monitor_stop();
	assert_true(gmod_monitor_stopping());
	usleep(20000);
	before = atomic_load(&gmod_counters.sweeps);
	gmod_note_activity(gmod_thread_self());
	usleep(50000);
	assert_int_equal(atomic_load(&gmod_counters.sweeps), before);
}

/* ---- secrets ---- */

static bool log_has(const char *log, size_t size, const void *needle, size_t length)
{
	return memmem(log, size, needle, length) != NULL;
}

/* The eight bytes as they are, and as hexadecimal digits in either order. */
static bool log_has_word(const char *log, size_t size, uint64_t word)
{
	char forward[20], backward[20];
	const uint8_t *bytes = (const uint8_t *)&word;

	snprintf(forward, sizeof(forward), "%016lx", word);
	for (int i = 0; i < 8; i++)
		snprintf(backward + (size_t)2 * i, 3, "%02x", bytes[i]);
	return log_has(log, size, &word, 8) || log_has(log, size, forward, 16) || log_has(log, size, backward, 16);
}

/* After all of the above: the process's key is in no report, nor a key made from it, nor a canary that was not hit. */
static void no_report_holds_a_key(void **unused)
{
	const uint64_t *key = atomic_load(&gmod_hot.page)->key;
	FILE *f = fopen(log_file, "re");
	static char log[32 << 20];
	size_t size;

	(void)unused;
	assert_non_null(f);
	size = fread(log, 1, sizeof(log), f);
	fclose(f);
	assert_true(size > 100000 && size < sizeof(log));
	assert_true(log_has(log, size, "heap-buffer-overflow", 20));
	assert_false(log_has_word(log, size, key[0]));
	assert_false(log_has_word(log, size, key[1]));
	for (uint32_t i = 0; i < gmod_registry_positions(); i++)
		for (int side = 0; side < 2; side++) {
			const struct gmod_canary *c = &gmod_record_details(gmod_record_at(i))->canary[side];

			if (c->key[0])
				CHECK(!log_has_word(log, size, c->key[0]) && !log_has_word(log, size, c->key[1]), "%u",
				      i);
			if (i > 64)
				return;
		}
}

static int start(void **unused)
{
	(void)unused;
	return start_gmod(":scan_interval_us=200:max_cpu=100");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(intact_buffers_are_quiet),
	    cmocka_unit_test(every_byte_of_the_line_is_seen_at_once),
	    cmocka_unit_test(every_line_further_out_has_its_turn),
	    cmocka_unit_test(a_hole_of_damage_is_seen_whole),
	    cmocka_unit_test(many_buffers_damaged_at_once_are_all_reported),
	    cmocka_unit_test(damage_that_grows_is_reported_whole),
	    cmocka_unit_test(damage_put_back_is_still_reported),
	    cmocka_unit_test(pending_damage_is_followed_far_out),
	    cmocka_unit_test(a_record_used_again_is_guarded_again),
	    cmocka_unit_test(a_thorough_sweep_sees_all_that_the_cpu_can),
	    cmocka_unit_test(a_free_sees_everything),
	    cmocka_unit_test(slack_is_the_devices),
	    cmocka_unit_test(copied_slack_is_compared),
	    cmocka_unit_test(slack_and_zone_are_one_finding),
	    cmocka_unit_test(a_line_was_intact_when_it_was_last_swept),
	    cmocka_unit_test(a_new_buffer_was_intact_when_it_was_made),
	    cmocka_unit_test(suspects_are_those_that_could_have_written),
	    cmocka_unit_test(one_thread_sweeps_at_a_time),
	    cmocka_unit_test(buffers_freed_under_a_sweep_are_reported_once),
	    cmocka_unit_test(activity_is_followed_by_a_sweep),
	    cmocka_unit_test(what_is_noted_while_the_monitor_falls_asleep_is_seen),
	    cmocka_unit_test(a_stopped_monitor_sweeps_no_more),
	    cmocka_unit_test(no_report_holds_a_key),
	};

	return cmocka_run_group_tests(tests, start, end_gmod);
}
