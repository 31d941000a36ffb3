/*
 * From sightings to reports: one final report for each damaged side, with all of the damage in it, and a provisional
 * one before it exactly where kernels could still be writing.
 */
#include "monitor/watch.h"

#include <pthread.h>

#include "tests/unit/buffer.h"

static struct report many[2048];

/* ---- sightings ---- */

/* `count` changed bytes from `offset` on: from the end of the buffer, or, if it is negative, from its start. */
static struct gmod_sighting sighting(const struct buffer *b, long offset, uint64_t count)
{
	static const uint8_t bytes[GMOD_OBSERVED_MAX] = {0xaa, 0xbb, 0xcc};
	uint64_t from = offset < 0 ? b->place.user : b->place.user_end;
	struct gmod_sighting s = {
	    .record = b->record,
	    .word = b->word,
	    .side = offset < 0 ? GMOD_HEAD : GMOD_TAIL,
	    .diff = {from + (uint64_t)offset, from + (uint64_t)offset + count - 1, count},
	    .observed = bytes,
	    .observed_count = count < sizeof(bytes) ? (uint32_t)count : sizeof(bytes),
	    .seen = gmod_now(),
	};

	s.intact = s.seen;
	s.intact.ns -= 1000000;
	return s;
}

static void see(const struct buffer *b, long offset, uint64_t count)
{
	struct gmod_sighting s = sighting(b, offset, count);

	gmod_watch_sighting(&s);
}

/* As if it had been seen so long ago. */
static void see_before(const struct buffer *b, long offset, uint64_t count, uint64_t ns)
{
	struct gmod_sighting s = sighting(b, offset, count);

	s.seen.ns -= ns;
	gmod_watch_sighting(&s);
}

static void see_last(const struct buffer *b, long offset, uint64_t count)
{
	struct gmod_sighting s = sighting(b, offset, count);

	s.last = true;
	gmod_watch_sighting(&s);
}

static void check_report(const struct report *r, long offset, long changed, long extent)
{
	CHECK(r->tail == (offset >= 0) && r->offset == offset && r->changed == changed && r->extent == extent,
	      "%s %+ld, %ld changed, extent %ld", r->tail ? "overflow" : "underflow", r->offset, r->changed, r->extent);
}

/* The usual buffer: it ends where its pages end, so all there is to see of it is on the host. */
static struct buffer plain_buffer(void)
{
	return new_buffer(3 * gmod_page_size(), GMOD_MEM_DEVICE);
}

static void free_buffer(struct buffer *b)
{
	CHECK(release_buffer(b), "%#lx", b->place.user);
	gmod_watch_released(b->record, (b->word & ~(uint64_t)3) | GMOD_RELEASING);
	drop_buffer(b);
}

/* ---- when ---- */

static void damage_after_all_work_is_done_is_final(void **unused)
{
	struct buffer b = plain_buffer();
	struct report r;

	(void)unused;
	assert_false(gmod_watch_pending());
	see(&b, 0, 16);
	gmod_watch_settle(false);
	r = take_one(true);
	check_report(&r, 0, 16, 16);
	assert_int_equal(r.size, 3 * gmod_page_size());
	assert_string_equal(r.observed, "aabbcc00000000000000000000000000");
	assert_false(gmod_watch_pending());
	gmod_watch_settle(true);
	free_buffer(&b);
	take_none();
}

static void damage_while_kernels_run_is_provisional_first(void **unused)
{
	struct buffer b = plain_buffer();
	struct report first, final;

	(void)unused;
	begin_work();
	see(&b, -4, 4);
	first = take_one(false);
	check_report(&first, -4, 4, 4);
	assert_true(gmod_watch_pending());
	see(&b, -4, 4);
	gmod_watch_settle(false);
	take_none();
	end_work();
	gmod_watch_settle(false);
	final = take_one(true);
	check_report(&final, -4, 4, 4);
	assert_int_equal(first.id, final.id);
	assert_string_equal(first.seen, final.seen);
	assert_false(gmod_watch_pending());
	free_buffer(&b);
	take_none();
}

static void damage_that_stops_growing_is_final(void **unused)
{
	struct buffer b = plain_buffer(), c = plain_buffer();
	struct report r;

	(void)unused;
	begin_work();
	see_before(&b, 0, 1, GMOD_WATCH_SETTLE_NS * 9 / 10);
	see_before(&c, 0, 1, GMOD_WATCH_SETTLE_NS * 2);
	assert_int_equal(take_reports(many, 2), 2);
	gmod_watch_settle(false);
	r = take_one(true);
	assert_int_equal(r.id, many[1].id);
	/* It grows: the time begins anew. */
	see(&b, 0, 2);
	gmod_watch_settle(false);
	take_none();
	usleep(GMOD_WATCH_SETTLE_NS / 1000 / 2);
	gmod_watch_settle(false);
	take_none();
	usleep(GMOD_WATCH_SETTLE_NS / 1000 / 2 + 5000);
	gmod_watch_settle(false);
	r = take_one(true);
	check_report(&r, 0, 2, 2);
	free_buffer(&b);
	free_buffer(&c);
	end_work();
	take_none();
}

/* Where the buffer has slack on the device, the final report waits for a look at it. */
static void a_final_report_waits_for_the_slack(void **unused)
{
	struct buffer b = new_buffer(gmod_page_size() + 100, GMOD_MEM_DEVICE);
	long zone = (long)(b.place.zone_tail - b.place.user_end);
	struct gmod_moment before = gmod_now();
	struct report r;

	(void)unused;
	assert_false(gmod_watch_wants_slack());
	see(&b, zone, 8);
	gmod_watch_settle(false);
	take_none();
	assert_true(gmod_watch_wants_slack());
	/* A look that began before, or at the other side, or at another buffer, is none. */
	gmod_watch_slack_seen(b.record, b.word, GMOD_TAIL, before);
	gmod_watch_slack_seen(b.record, b.word, GMOD_HEAD, gmod_now());
	gmod_watch_slack_seen(b.record, b.word + 4, GMOD_TAIL, gmod_now());
	assert_true(gmod_watch_wants_slack());
	gmod_watch_settle(false);
	take_none();
	see(&b, 3, (uint64_t)zone + 5);
	gmod_watch_slack_seen(b.record, b.word, GMOD_TAIL, gmod_now());
	assert_false(gmod_watch_wants_slack());
	gmod_watch_settle(false);
	r = take_one(true);
	check_report(&r, 3, zone + 5, zone + 5);
	free_buffer(&b);
	take_none();
}

static void slack_that_nobody_reads_holds_nothing_up_for_long(void **unused)
{
	struct buffer b = new_buffer(gmod_page_size() + 100, GMOD_MEM_DEVICE);
	struct report r;

	(void)unused;
	see_before(&b, 500, 8, GMOD_WATCH_SETTLE_NS * 4);
	gmod_watch_settle(false);
	r = take_one(true);
	check_report(&r, 500, 8, 8);
	free_buffer(&b);
	take_none();
}

/* ---- what ---- */

static void growing_damage_is_one_finding(void **unused)
{
	struct buffer b = plain_buffer();
	struct report first, final;

	(void)unused;
	begin_work();
	see(&b, 100, 4);
	first = take_one(false);
	see(&b, 100, 24);
	see(&b, 40, 10);
	see(&b, 60, 2); /* smaller: nothing is taken back */
	take_none();
	end_work();
	gmod_watch_settle(false);
	final = take_one(true);
	assert_int_equal(first.id, final.id);
	check_report(&final, 40, 24, 100 + 24 - 40);
	/* The bytes shown are those at the lowest address. */
	assert_string_equal(final.observed, "aabbcc00000000000000");
	free_buffer(&b);
	take_none();
}

static void both_sides_are_findings_of_their_own(void **unused)
{
	struct buffer b = plain_buffer();

	(void)unused;
	begin_work();
	see(&b, -8, 8);
	see(&b, 8, 8);
	assert_int_equal(take_reports(many, 4), 2);
	assert_true(!many[0].final && !many[1].final && many[0].id != many[1].id);
	end_work();
	gmod_watch_settle(false);
	assert_int_equal(take_reports(many + 2, 4), 2);
	assert_true(many[2].final && many[3].final && many[2].id != many[3].id);
	assert_true(many[2].tail != many[3].tail);
	free_buffer(&b);
	take_none();
}

static void bytes_put_back_are_said_to_be(void **unused)
{
	struct buffer b = plain_buffer(), c = plain_buffer();
	uint64_t from = b.place.zone_tail, to = b.place.end;

	(void)unused;
	begin_work();
	see(&b, 10, 4);
	see(&c, 10, 4);
	assert_int_equal(take_reports(many, 2), 2);
	/* Only a look at all of it says so, and at this side of this buffer. */
	gmod_watch_intact(b.record, b.word, GMOD_TAIL, from + 11, to);
	gmod_watch_intact(b.record, b.word, GMOD_TAIL, from, from + 13);
	gmod_watch_intact(b.record, b.word, GMOD_HEAD, from, to);
	gmod_watch_intact(b.record, b.word + 4, GMOD_TAIL, from, to);
	end_work();
	gmod_watch_intact(c.record, c.word, GMOD_TAIL, c.place.zone_tail, c.place.end);
	gmod_watch_settle(false);
	assert_int_equal(take_reports(many + 2, 2), 2);
	for (int i = 2; i < 4; i++)
		assert_true(many[i].final && many[i].restored == (many[i].id == many[1].id));
	free_buffer(&b);
	free_buffer(&c);
	take_none();
}

static void damage_seen_again_is_not_put_back(void **unused)
{
	struct buffer b = plain_buffer();

	(void)unused;
	begin_work();
	see(&b, 10, 4);
	gmod_watch_intact(b.record, b.word, GMOD_TAIL, b.place.zone_tail, b.place.end);
	see(&b, 10, 4);
	end_work();
	gmod_watch_settle(false);
	assert_int_equal(take_reports(many, 2), 2);
	assert_true(many[1].final && !many[1].restored);
	free_buffer(&b);
	take_none();
}

/* ---- who could have done it ---- */

enum { OTHER_STREAM = 0x5300, ANOTHER_KERNEL = 0x5400 };

static void launch_on(uint64_t stream, uint64_t function)
{
	struct gmod_thread *t = gmod_thread_self();

	gmod_launch_close(t, gmod_launch_open(t, TEST_CONTEXT, stream, function, false), true);
}

static void check_suspect(const struct report *r, long launches, long unfinished)
{
	CHECK(number_of(r->suspects, "\"launches\":") == launches &&
		  number_of(r->suspects, "\"unfinished\":") == unfinished,
	      "not %ld, %ld: %s", launches, unfinished, r->suspects);
}

/* Nothing of earlier tests is under suspicion: the next buffer was intact after all of it was done. */
static void forget_the_past(void)
{
	gmod_prove_context(TEST_CONTEXT, gmod_ticks());
	gmod_proof_remember(gmod_ticks());
}

static void a_final_report_says_what_is_done_by_then(void **unused)
{
	struct buffer b;
	struct report r;

	(void)unused;
	forget_the_past();
	b = plain_buffer();
	launch_on(TEST_STREAM, 0x5200);
	launch_on(OTHER_STREAM, 0x5200);
	see(&b, 0, 1);
	r = take_one(false);
	check_suspect(&r, 2, 2);
	gmod_prove_stream(OTHER_STREAM, gmod_ticks());
	/* It comes later, and is not among the suspects. */
	launch_on(TEST_STREAM, 0x5200);
	gmod_watch_settle(true);
	r = take_one(true);
	check_suspect(&r, 2, 1);
	end_work();
	free_buffer(&b);
	take_none();
}

static void a_suspect_is_known_when_its_record_is_gone(void **unused)
{
	struct buffer b, c;
	struct report r;

	(void)unused;
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
	r = take_one(true);
	check_suspect(&r, 1, 1);
	end_work();
	free_buffer(&c);
	r = take_one(true);
	check_suspect(&r, 1, 0);
	gmod_prove_context(TEST_CONTEXT, gmod_ticks());
}

static void a_launch_seen_in_its_call_is_followed(void **unused)
{
	struct gmod_thread *t = gmod_thread_self();
	struct gmod_launch *l;
	struct buffer b, c, d;
	struct report r;

	(void)unused;
	forget_the_past();
	b = plain_buffer();
	c = plain_buffer();
	d = plain_buffer();
	l = gmod_launch_open(t, TEST_CONTEXT, TEST_STREAM, 0x5200, false);
	see(&b, 0, 1);
	see(&c, 0, 1);
	see(&d, 0, 1);
	assert_int_equal(take_reports(many, 3), 3);
	check_suspect(&many[0], 1, 1);
	free_buffer(&b);
	r = take_one(true);
	check_suspect(&r, 1, 1);
	gmod_launch_close(t, l, true);
	free_buffer(&c);
	r = take_one(true);
	check_suspect(&r, 1, 1);
	end_work();
	free_buffer(&d);
	r = take_one(true);
	check_suspect(&r, 1, 0);
}

/* ---- the end of a buffer ---- */

static void the_last_look_is_final_whatever_runs(void **unused)
{
	struct buffer b = plain_buffer(), c = plain_buffer();
	struct report r;

	(void)unused;
	begin_work();
	see_last(&b, 0, 2);
	r = take_one(true);
	check_report(&r, 0, 2, 2);
	assert_false(gmod_watch_pending());
	see(&c, 0, 2);
	take_one(false);
	see_last(&c, 0, 7);
	r = take_one(true);
	check_report(&r, 0, 7, 7);
	end_work();
	free_buffer(&b);
	free_buffer(&c);
	take_none();
}

static void a_released_buffers_reports_become_final(void **unused)
{
	struct buffer b = plain_buffer(), c = plain_buffer();

	(void)unused;
	begin_work();
	see(&b, 0, 2);
	see(&b, -2, 2);
	see(&c, 0, 2);
	assert_int_equal(take_reports(many, 3), 3);
	/* Another buffer, at the same record, is not this one. */
	gmod_watch_released(b.record, b.word + 4);
	take_none();
	free_buffer(&b);
	assert_int_equal(take_reports(many, 3), 2);
	assert_true(many[0].final && many[1].final && many[0].tail != many[1].tail);
	assert_true(gmod_watch_pending());
	free_buffer(&c);
	take_one(true);
	assert_false(gmod_watch_pending());
	end_work();
}

static void a_reported_side_is_no_news(void **unused)
{
	struct buffer b = plain_buffer();
	unsigned seen;

	(void)unused;
	see(&b, 0, 2);
	gmod_watch_settle(false);
	take_one(true);
	seen = gmod_watch_seen();
	see(&b, 0, 100);
	see_last(&b, 0, 100);
	gmod_watch_settle(true);
	assert_int_equal(gmod_watch_seen(), seen);
	assert_false(gmod_watch_pending());
	take_none();
	/* The other side is. */
	see(&b, -1, 1);
	gmod_watch_settle(false);
	take_one(true);
	free_buffer(&b);
	take_none();
}

static void the_next_buffer_of_a_record_is_news(void **unused)
{
	struct buffer b = plain_buffer(), next;
	const struct gmod_record *record = b.record;

	(void)unused;
	for (int i = 0; i < 3; i++) {
		see(&b, 0, 2);
		see(&b, -1, 1);
		gmod_watch_settle(false);
		assert_int_equal(take_reports(many, 2), 2);
		free_buffer(&b);
		next = plain_buffer();
		assert_ptr_equal(next.record, record);
		b = next;
	}
	free_buffer(&b);
	take_none();
}

/* ---- many ---- */

static void findings_are_numbered_and_counted(void **unused)
{
	struct buffer b = plain_buffer(), c = plain_buffer();
	unsigned seen = gmod_watch_seen();
	uint32_t id = gmod_watch_next_id();

	(void)unused;
	assert_int_equal(gmod_watch_seen(), seen + 1);
	begin_work();
	see(&b, 0, 1);
	see(&c, 0, 1);
	see(&c, 0, 1);
	/* Seen, though only provisionally reported. */
	assert_int_equal(gmod_watch_seen(), seen + 3);
	assert_int_equal(take_reports(many, 2), 2);
	assert_int_equal(many[0].id, id + 1);
	assert_int_equal(many[1].id, id + 2);
	end_work();
	gmod_watch_settle(false);
	assert_int_equal(take_reports(many, 2), 2);
	assert_int_equal(gmod_watch_next_id(), id + 3);
	free_buffer(&b);
	free_buffer(&c);
}

static void more_than_can_be_watched_are_final_at_once(void **unused)
{
	enum { MANY = 300 };
	static struct buffer buffers[MANY];
	static bool final[4 * MANY + 2000];
	unsigned provisional = 0, finals = 0, n;

	(void)unused;
	begin_work();
	for (int i = 0; i < MANY; i++) {
		buffers[i] = plain_buffer();
		see(&buffers[i], 5, 5);
	}
	n = take_reports(many, MANY);
	assert_int_equal(n, MANY);
	gmod_watch_settle(true);
	n += take_reports(many + n, 2048 - MANY);
	for (unsigned i = 0; i < n; i++) {
		provisional += !many[i].final;
		finals += many[i].final;
		CHECK(!many[i].final || !final[many[i].id], "finding %ld has two final reports", many[i].id);
		final[many[i].id] |= many[i].final;
	}
	assert_int_equal(finals, MANY);
	assert_true(provisional >= 100 && provisional < MANY);
	assert_false(gmod_watch_pending());
	end_work();
	for (int i = 0; i < MANY; i++)
		free_buffer(&buffers[i]);
	take_none();
}

static uint32_t looked_at[8];
static int looks;

static void look(uint32_t position, uint64_t generation)
{
	assert_int_equal(atomic_load(&gmod_record_at(position)->word) >> 2, generation);
	assert_true(looks < 8);
	looked_at[looks++] = position;
}

static void what_is_pending_is_looked_at_again(void **unused)
{
	struct buffer b = plain_buffer(), c = plain_buffer(), d = plain_buffer();

	(void)unused;
	gmod_watch_recheck(look);
	assert_int_equal(looks, 0);
	begin_work();
	see(&b, 5, 5);
	see(&d, 5, 5);
	gmod_watch_recheck(look);
	assert_int_equal(looks, 2);
	assert_true(looked_at[0] == b.record->position || looked_at[1] == b.record->position);
	assert_true(looked_at[0] == d.record->position || looked_at[1] == d.record->position);
	end_work();
	gmod_watch_settle(false);
	gmod_watch_recheck(look);
	assert_int_equal(looks, 2);
	assert_int_equal(take_reports(many, 4), 4);
	free_buffer(&b);
	free_buffer(&c);
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
			gmod_watch_settle(false);
		see_last(&b, 0, 5);
		free_buffer(&b);
	}
	return NULL;
}

static void *settle(void *unused)
{
	for (int i = 0; !atomic_load(&stop); i++) {
		gmod_watch_settle(i % 2);
		gmod_watch_wants_slack();
	}
	return unused;
}

static void every_finding_of_many_threads_is_final_once(void **unused)
{
	pthread_t thread[THREADS], settler;
	unsigned before = gmod_watch_seen(), n, finals = 0;
	static unsigned of[4096];

	(void)unused;
	begin_work();
	assert_int_equal(pthread_create(&settler, NULL, settle, NULL), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, damage_and_free, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&stop, true);
	pthread_join(settler, NULL);
	end_work();
	gmod_watch_settle(true);
	assert_int_equal(gmod_watch_seen() - before, THREADS * ROUNDS * 3 / 2);
	n = take_reports(many, 2048);
	for (unsigned i = 0; i < n; i++) {
		CHECK(many[i].id < 4096, "%ld", many[i].id);
		finals += many[i].final;
		of[many[i].id] += many[i].final;
		CHECK(of[many[i].id] <= 1, "finding %ld has two final reports", many[i].id);
	}
	assert_int_equal(finals, THREADS * ROUNDS * 3 / 2);
}

/* ---- halt_on_error ---- */

static int see_and_halt(void)
{
	struct buffer b;

	NEED(start_gmod(":halt_on_error=1:exitcode=42") == 0);
	b = plain_buffer();
	begin_work();
	see(&b, 0, 1);
	gmod_watch_settle(false);
	return 1;
}

static int see_last_and_halt(void)
{
	struct buffer b;

	NEED(start_gmod(":halt_on_error=1:exitcode=43") == 0);
	b = plain_buffer();
	begin_work();
	see_last(&b, 0, 1);
	return 1;
}

/* Whatever still runs, the process ends with the first final report. Before the parent starts GMOD for itself. */
static void halt_on_error_does_not_wait(void **unused)
{
	unsigned n;

	(void)unused;
	assert_int_equal(make_log(), 0);
	in_child(see_and_halt, 42);
	n = take_reports(many, 2);
	assert_true(n > 0 && many[n - 1].final);
	in_child(see_last_and_halt, 43);
	take_one(true);
	assert_int_equal(start_gmod(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(halt_on_error_does_not_wait),
	    cmocka_unit_test(damage_after_all_work_is_done_is_final),
	    cmocka_unit_test(damage_while_kernels_run_is_provisional_first),
	    cmocka_unit_test(damage_that_stops_growing_is_final),
	    cmocka_unit_test(a_final_report_waits_for_the_slack),
	    cmocka_unit_test(slack_that_nobody_reads_holds_nothing_up_for_long),
	    cmocka_unit_test(growing_damage_is_one_finding),
	    cmocka_unit_test(both_sides_are_findings_of_their_own),
	    cmocka_unit_test(bytes_put_back_are_said_to_be),
	    cmocka_unit_test(damage_seen_again_is_not_put_back),
	    cmocka_unit_test(a_final_report_says_what_is_done_by_then),
	    cmocka_unit_test(a_suspect_is_known_when_its_record_is_gone),
	    cmocka_unit_test(a_launch_seen_in_its_call_is_followed),
	    cmocka_unit_test(the_last_look_is_final_whatever_runs),
	    cmocka_unit_test(a_released_buffers_reports_become_final),
	    cmocka_unit_test(a_reported_side_is_no_news),
	    cmocka_unit_test(the_next_buffer_of_a_record_is_news),
	    cmocka_unit_test(findings_are_numbered_and_counted),
	    cmocka_unit_test(more_than_can_be_watched_are_final_at_once),
	    cmocka_unit_test(what_is_pending_is_looked_at_again),
	    cmocka_unit_test(every_finding_of_many_threads_is_final_once),
	};

	return cmocka_run_group_tests(tests, NULL, end_gmod);
}
