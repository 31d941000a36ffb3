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
	gmod_verify_copied(b->record, b->word, side, (struct gmod_range){from, to}, copy, gmod_now(),
			   gmod_sweep_latest());
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

/* ---- rounds of a patrol ---- */

enum { REDZONED = 12345, ALLOCATED = 16384, LATEST = 100, EARLIEST = LATEST - GMOD_ROUNDS + 1 };

static struct gmod_rounds rounds;

/* Seconds past the hour say which round began. */
static void have_rounds(const struct gmod_details *d)
{
	for (uint32_t i = EARLIEST; i <= LATEST; i++) {
		rounds.round[i % GMOD_ROUNDS].number = i;
		rounds.round[i % GMOD_ROUNDS].count = UINT32_MAX;
		gmod_stamp_set(&rounds.round[i % GMOD_ROUNDS].began,
			       (struct gmod_moment){i * GMOD_SECONDS(1), d->allocated_ticks + i});
	}
	rounds.latest = LATEST;
}

static struct buffer redzoned_buffer(void)
{
	struct buffer b = {.total = ALLOCATED};

	b.memory = mmap(NULL, b.total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(b.memory != MAP_FAILED);
	gmod_layout_redzone_at(REDZONED, b.total, (uintptr_t)b.memory, (uintptr_t)b.memory, &b.place);
	arm_buffer(&b, REDZONED, GMOD_MEM_DEVICE);
	return b;
}

/* The latest round that has seen the byte intact, as a report has it. */
static void check_seen(struct buffer *b, uint64_t offset, unsigned number)
{
	const struct gmod_details *d = gmod_record_details(b->record);
	unsigned minutes = 0, seconds = 0;
	struct report r;

	damage(b->place.user_end + offset, 1);
	free_buffer(b, GMOD_VERIFY_ALL);
	r = take_one(true);
	sscanf(strchr(r.intact, ':') + 1, "%u:%u", &minutes, &seconds);
	CHECK(60 * minutes + seconds == number, "+%lu of #%lu: %s, not round %u", offset, d->serial, r.intact, number);
}

TEST(a_round_says_what_it_has_seen)
{
	static const struct {
		uint64_t offset;
		unsigned number;
	} seen[] = {{0, LATEST}, {62, LATEST}, {63, 63}, {126, 63}, {127, 64}, {4038, 62}};

	for (size_t i = 0; i < SIZE_OF(seen); i++) {
		struct buffer b = redzoned_buffer();
		struct gmod_details *d = gmod_record_details(b.record);

		d->patrolled_to = UINT32_MAX;
		d->patrolled = &rounds;
		have_rounds(d);
		check_seen(&b, seen[i].offset, seen[i].number);
	}
	for (int what = 0; what < 5; what++) {
		struct buffer b = redzoned_buffer();
		struct gmod_details *d = gmod_record_details(b.record);

		d->patrolled_to = what == 0 ? 70 : UINT32_MAX;
		d->patrolled = &rounds;
		have_rounds(d);
		d->struck_to = 80;
		d->struck_serial = what == 1 ? d->serial : d->serial - 1;
		/* One that has not found all as it should be has no place. */
		if (what == 2)
			rounds.round[LATEST % GMOD_ROUNDS].number = LATEST - GMOD_ROUNDS;
		if (what == 3)
			rounds.round[LATEST % GMOD_ROUNDS].count = b.record->position;
		check_seen(&b, 0, (unsigned[]){70, 80, LATEST - 1, LATEST - 1, LATEST}[what]);
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
