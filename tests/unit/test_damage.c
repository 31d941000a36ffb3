/*
 * From sightings to reports: one final report for each damaged side, with all of the damage in it, and a provisional
 * one before it exactly where kernels could still be writing.
 */
#include "tests/unit/sighting.h"

/* ---- halt_on_error ---- */

static void see_and_halt(void)
{
	struct buffer b;

	NEED(start_gmod(":halt_on_error=1:exitcode=42") == 0);
	b = plain_buffer();
	begin_work();
	see(&b, 0, 1);
	gmod_damage_settle(false);
}

static void see_last_and_halt(void)
{
	struct buffer b;

	NEED(start_gmod(":halt_on_error=1:exitcode=43") == 0);
	b = plain_buffer();
	begin_work();
	see_last(&b, 0, 1);
}

/* Whatever still runs, the process ends with the first final report. Before the parent starts GMOD for itself. */
TEST(halt_on_error_does_not_wait)
{
	unsigned n;

	assert_int_equal(make_log(), 0);
	in_child(see_and_halt, 42);
	n = take_reports(many, 2);
	assert_true(n > 0 && many[n - 1].final);
	in_child(see_last_and_halt, 43);
	take_one(true);
	assert_int_equal(start_gmod(""), 0);
}

/* ---- when a report is final ---- */

/* Every test has two, and frees them when all work is done. */
static struct buffer pair[2], *const b = &pair[0], *const c = &pair[1];

FIXTURE(make_pair)
{
	*b = plain_buffer();
	*c = plain_buffer();
	return 0;
}

FIXTURE(free_pair)
{
	end_work();
	free_quietly(pair, 2);
	return 0;
}

static void end_all_work(void)
{
	end_work();
	gmod_damage_settle(false);
}

#define WATCHED(test) TEST_FIXTURE(test, make_pair, free_pair)

WATCHED(damage_after_all_work_is_done_is_final)
{
	struct report r;

	assert_false(gmod_damage_pending());
	see(b, 0, 16);
	gmod_damage_settle(false);
	r = take_checked(true, 0, 16, 16);
	assert_int_equal(r.size, 3 * gmod_page_size());
	assert_string_equal(r.observed, "aabbcc00000000000000000000000000");
	assert_false(gmod_damage_pending());
	gmod_damage_settle(true);
}

WATCHED(damage_while_kernels_run_is_provisional_first)
{
	struct report first, final;

	begin_work();
	see(b, -4, 4);
	first = take_checked(false, -4, 4, 4);
	assert_true(gmod_damage_pending());
	see(b, -4, 4);
	gmod_damage_settle(false);
	take_none();
	end_all_work();
	final = take_checked(true, -4, 4, 4);
	assert_int_equal(first.id, final.id);
	assert_string_equal(first.seen, final.seen);
	assert_false(gmod_damage_pending());
}

WATCHED(damage_that_stops_growing_is_final)
{
	struct report r;
	uint64_t anew;

	begin_work();
	see_before(b, 0, 1, GMOD_DAMAGE_SETTLE_NS / 4);
	see_before(c, 0, 1, GMOD_DAMAGE_SETTLE_NS * 2);
	assert_int_equal(take_reports(many, 2), 2);
	gmod_damage_settle(false);
	r = take_one(true);
	assert_int_equal(r.id, many[1].id);
	/* It grows: the time begins anew. On a busy machine it may have passed by now. */
	anew = gmod_monotonic_ns();
	see(b, 0, 2);
	for (int half = 0; half < 2; half++) {
		gmod_damage_settle(false);
		if (gmod_monotonic_ns() - anew < GMOD_DAMAGE_SETTLE_NS)
			take_none();
		usleep(GMOD_DAMAGE_SETTLE_NS / 1000 / 2 + 2500);
	}
	gmod_damage_settle(false);
	take_checked(true, 0, 2, 2);
}

/* Where the buffer has slack on the device, the final report waits for a look at it. */
TEST(a_final_report_waits_for_the_slack)
{
	struct buffer b = new_buffer(gmod_page_size() + 100, GMOD_MEM_DEVICE);
	long zone = (long)(b.place.zone_tail - b.place.user_end);
	struct gmod_moment before = gmod_now();

	assert_false(wants_slack());
	see(&b, zone, 8);
	gmod_damage_settle(false);
	take_none();
	assert_true(wants_slack());
	/* A look that began before, or at the other side, or at another buffer, is none. */
	gmod_damage_slack_seen(b.record, b.word, GMOD_TAIL, before);
	gmod_damage_slack_seen(b.record, b.word, GMOD_HEAD, gmod_now());
	gmod_damage_slack_seen(b.record, b.word + 4, GMOD_TAIL, gmod_now());
	assert_true(wants_slack());
	gmod_damage_settle(false);
	take_none();
	see(&b, 3, (uint64_t)zone + 5);
	gmod_damage_slack_seen(b.record, b.word, GMOD_TAIL, gmod_now());
	assert_false(wants_slack());
	gmod_damage_settle(false);
	take_checked(true, 3, zone + 5, zone + 5);
	free_quietly(&b, 1);
}

/* What was written since the look before, too, is to be in the final report. */
TEST(a_final_report_waits_for_a_look_behind_all_work)
{
	struct buffer b = new_buffer(gmod_page_size() + 100, GMOD_MEM_DEVICE);
	long zone = (long)(b.place.zone_tail - b.place.user_end);

	begin_work();
	see(&b, zone, 8);
	take_one(false);
	gmod_damage_slack_seen(b.record, b.word, GMOD_TAIL, gmod_now());
	assert_false(wants_slack());
	end_all_work();
	take_none();
	assert_true(wants_slack());
	see(&b, 3, (uint64_t)zone + 5);
	gmod_damage_slack_seen(b.record, b.word, GMOD_TAIL, gmod_now());
	gmod_damage_settle(false);
	take_checked(true, 3, zone + 5, zone + 5);
	free_quietly(&b, 1);
}

TEST(a_final_report_beside_work_waits_for_a_last_look)
{
	struct buffer b = new_buffer(gmod_page_size() + 100, GMOD_MEM_DEVICE);
	struct gmod_moment then = gmod_now();

	begin_work();
	then.ns -= GMOD_DAMAGE_SETTLE_NS;
	see_before(&b, 500, 8, GMOD_DAMAGE_SETTLE_NS + 1000000);
	take_one(false);
	gmod_damage_slack_seen(b.record, b.word, GMOD_TAIL, then);
	gmod_damage_settle(false);
	take_none();
	assert_true(wants_slack());
	gmod_damage_slack_seen(b.record, b.word, GMOD_TAIL, gmod_now());
	gmod_damage_settle(false);
	take_checked(true, 500, 8, 8);
	end_work();
	free_quietly(&b, 1);
}

TEST(slack_that_nobody_reads_holds_nothing_up_for_long)
{
	struct buffer b = new_buffer(gmod_page_size() + 100, GMOD_MEM_DEVICE);

	see_before(&b, 500, 8, GMOD_DAMAGE_SETTLE_NS * 4);
	gmod_damage_settle(false);
	take_checked(true, 500, 8, 8);
	free_quietly(&b, 1);
}

/* ---- what ---- */

WATCHED(growing_damage_is_one_finding)
{
	static const uint8_t lowest[] = {0xdd, 0xee, 0xff, 1, 2, 3, 4, 5, 6, 7};
	struct gmod_sighting at_40 = sighting(b, 40, 10);
	struct report first, final;

	at_40.observed = lowest;

	begin_work();
	see(b, 100, 4);
	first = take_one(false);
	see(b, 100, 24);
	gmod_damage_sighting(&at_40);
	see(b, 60, 2); /* smaller: nothing is taken back */
	take_none();
	end_all_work();
	final = take_one(true);
	assert_int_equal(first.id, final.id);
	check_report(&final, 40, 24, 100 + 24 - 40);
	/* The bytes shown are those at the lowest address. */
	assert_string_equal(final.observed, "ddeeff01020304050607");
}

WATCHED(both_sides_are_findings_of_their_own)
{
	begin_work();
	see(b, -8, 8);
	see(b, 8, 8);
	assert_int_equal(take_reports(many, 4), 2);
	assert_true(!many[0].final && !many[1].final && many[0].id != many[1].id);
	end_all_work();
	assert_int_equal(take_reports(many + 2, 4), 2);
	assert_true(many[2].final && many[3].final && many[2].id != many[3].id);
	assert_true(many[2].tail != many[3].tail);
}

static struct gmod_range tail_zone(const struct buffer *x)
{
	return (struct gmod_range){x->place.zone_tail, x->place.end};
}

WATCHED(bytes_put_back_are_said_to_be)
{
	struct gmod_range all = tail_zone(b);

	begin_work();
	see(b, 10, 4);
	see(c, 10, 4);
	assert_int_equal(take_reports(many, 2), 2);
	/* Only a look at all of it says so, and at this side of this buffer. */
	gmod_damage_intact(b->record, b->word, GMOD_TAIL, (struct gmod_range){all.from + 11, all.to});
	gmod_damage_intact(b->record, b->word, GMOD_TAIL, (struct gmod_range){all.from, all.from + 13});
	gmod_damage_intact(b->record, b->word, GMOD_HEAD, all);
	gmod_damage_intact(b->record, b->word + 4, GMOD_TAIL, all);
	end_work();
	gmod_damage_intact(c->record, c->word, GMOD_TAIL, tail_zone(c));
	gmod_damage_settle(false);
	assert_int_equal(take_reports(many + 2, 2), 2);
	for (int i = 2; i < 4; i++)
		assert_true(many[i].final && many[i].restored == (many[i].id == many[1].id));
}

WATCHED(damage_seen_again_is_not_put_back)
{
	begin_work();
	see(b, 10, 4);
	gmod_damage_intact(b->record, b->word, GMOD_TAIL, tail_zone(b));
	see(b, 10, 4);
	end_all_work();
	assert_int_equal(take_reports(many, 2), 2);
	assert_true(many[1].final && !many[1].restored);
}

/* ---- the end of a buffer ---- */

WATCHED(the_last_look_is_final_whatever_runs)
{
	begin_work();
	see_last(b, 0, 2);
	take_checked(true, 0, 2, 2);
	assert_false(gmod_damage_pending());
	see(c, 0, 2);
	take_one(false);
	see_last(c, 0, 7);
	take_checked(true, 0, 7, 7);
}

WATCHED(a_released_buffers_reports_become_final)
{
	begin_work();
	see(b, 0, 2);
	see(b, -2, 2);
	see(c, 0, 2);
	assert_int_equal(take_reports(many, 3), 3);
	/* Another buffer, at the same record, is not this one. */
	gmod_damage_released(b->record, b->word + 4);
	take_none();
	free_buffer(b);
	assert_int_equal(take_reports(many, 3), 2);
	assert_true(many[0].final && many[1].final && many[0].tail != many[1].tail);
	assert_true(gmod_damage_pending());
	free_buffer(c);
	take_one(true);
	assert_false(gmod_damage_pending());
}

WATCHED(a_reported_side_is_no_news)
{
	unsigned seen;

	see(b, 0, 2);
	gmod_damage_settle(false);
	take_one(true);
	seen = gmod_finding_count();
	see(b, 0, 100);
	see_last(b, 0, 100);
	gmod_damage_settle(true);
	assert_int_equal(gmod_finding_count(), seen);
	assert_false(gmod_damage_pending());
	take_none();
	/* The other side is. */
	see(b, -1, 1);
	gmod_damage_settle(false);
	take_one(true);
}

WATCHED(the_next_buffer_of_a_record_is_news)
{
	const struct gmod_record *record = b->record;

	for (int i = 0; i < 3; i++) {
		see(b, 0, 2);
		see(b, -1, 1);
		gmod_damage_settle(false);
		assert_int_equal(take_reports(many, 2), 2);
		free_buffer(b);
		*b = plain_buffer();
		assert_ptr_equal(b->record, record);
	}
}

static CMFixtureFunction group_teardown = end_gmod;
