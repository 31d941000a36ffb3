/* Looking at canaries without a driver, as a thorough sweep, a free and the gather do it. */
#include "tests/unit/sweeping.h"
#include "monitor/watch/verify.h"

/* ---- other looks ---- */

TEST(a_thorough_sweep_sees_all_that_the_cpu_can)
{
	for (int kind = 0; kind < 3; kind++) {
		struct buffer b = buffer_of_kind(kind);

		damage(b.place.zone_head, 1);
		damage(b.place.end - 1, 1);
		sweep_thoroughly();
		gmod_damage_settle(true);
		assert_int_equal(take_reports(many, 2), 2);
		check_report(&many[many[0].tail], &b, b.place.zone_head, 1, 1);
		check_report(&many[!many[0].tail], &b, b.place.end - 1, 1, 1);
		free_quietly(&b);
	}
}

TEST(a_free_sees_everything)
{
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
TEST(slack_is_the_devices)
{
	struct buffer b = new_buffer(5000, GMOD_MEM_DEVICE);

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
	gmod_verify_copied(b->record, b->word, side, from, to, copy, gmod_now(), gmod_sweep_latest());
	gmod_unpin(GMOD_PIN_SWEEP);
	gmod_sweep_unlock();
	gmod_damage_settle(false);
}

TEST(copied_slack_is_compared)
{
	static uint8_t copy[65536];

	for (int side = GMOD_HEAD; side <= GMOD_TAIL; side++)
		for (uint64_t at = 0; at < 120; at += 7) {
			struct buffer b = new_buffer(5000, GMOD_MEM_DEVICE);
			uint64_t from = side == GMOD_HEAD ? b.place.body : b.place.user_end;
			uint64_t size = side == GMOD_HEAD ? b.place.user - from : b.place.zone_tail - from;

			memcpy(copy, byte_at(from), size);
			look_at_slack(&b, (enum gmod_side)side, copy);
			take_none();
			assert_true(gmod_stamp_get(&gmod_record_details(b.record)->slack[side]).ns > 0);
			copy[at] ^= 1;
			look_at_slack(&b, (enum gmod_side)side, copy);
			/* Final with the second look, which began when there was something to see. */
			take_none();
			assert_true(wants_slack());
			look_at_slack(&b, (enum gmod_side)side, copy);
			take_checked(true, &b, from + at, 1, 1);
			look_at_slack(&b, (enum gmod_side)side, copy);
			free_quietly(&b);
		}
}

/* An overflow that crosses the slack into the page behind it is one finding, whichever part is seen first. */
TEST(slack_and_zone_are_one_finding)
{
	static uint8_t copy[65536];

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

TEST(no_report_holds_a_key)
{
	check_reports_hold_no_key();
}
