/* Sweeps over buffers without a driver: every changed byte is found, where it is said to be, once. */

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "lib/base/facts.h"
#include "lib/base/counters.h"
#include "lib/base/text.h"
#include "monitor/launches/names.h"
#include "tests/unit/sweeping.h"

/* ---- regular sweeps ---- */

TEST(intact_buffers_are_quiet)
{
	enum { BUFFERS = 60 };
	struct buffer buffers[BUFFERS];
	uint64_t before = atomic_load(&gmod_counters.sweeps);

	for (int i = 0; i < BUFFERS; i++)
		buffers[i] = i % 4 == 3 ? new_buffer((size_t)(i + 1) * 777, GMOD_MEM_DEVICE) : buffer_of_kind(i % 4);
	for (int i = 0; i < 300; i++)
		sweep();
	sweep_thoroughly();
	assert_int_equal(atomic_load(&gmod_counters.sweeps), before + 300);
	assert_false(gmod_damage_pending());
	for (int i = 0; i < BUFFERS; i++)
		free_quietly(&buffers[i]);
	assert_int_equal(gmod_finding_count(), 0);
}

/* One byte of the line beside the user's bytes is seen by the next sweep, whichever it is, and whosever turn it is. */
TEST(every_byte_of_the_line_is_seen_at_once)
{
	struct buffer beside[100];

	for (int i = 0; i < 100; i++)
		beside[i] = plain_buffer();
	for (int kind = 0; kind < 3; kind++)
		for (int i = 0; i < 2 * GMOD_LINE; i++) {
			struct buffer b = buffer_of_kind(kind);
			uint64_t at = i < GMOD_LINE ? b.place.body - 1 - (uint64_t)i
						    : b.place.zone_tail + (uint64_t)(i - GMOD_LINE);

			sweep();
			take_none();
			damage(at, 1);
			sweep();
			if (wants_slack())
				gmod_damage_settle(true); /* nobody gathers here */
			take_checked(true, &b, at, 1, 1);
			for (int k = 0; k < 3; k++)
				sweep();
			free_quietly(&b);
		}
	for (int i = 0; i < 100; i++)
		free_quietly(&beside[i]);
}

/* Further out it takes some sweeps, each looks at some lines; and all of them come in turn, again and again. */
TEST(every_line_further_out_has_its_turn)
{
	uint64_t lines = gmod_page_size() / GMOD_LINE, seed = 1;

	for (uint64_t i = 0; i < 2 * (lines - 1); i++) {
		struct buffer b = plain_buffer();
		uint64_t line = i % (lines - 1) + 1, off = line * GMOD_LINE + random_below(&seed, GMOD_LINE);
		uint64_t at = i < lines - 1 ? b.place.zone_tail + off : b.place.body - 1 - off;
		unsigned seen = gmod_finding_count();
		int sweeps = 0;

		damage(at, 1);
		for (; gmod_finding_count() == seen && sweeps < 1000; sweeps++)
			sweep();
		CHECK(sweeps < 1000, "line %lu is never looked at", line);
		take_checked(true, &b, at, 1, 1);
		free_quietly(&b);
	}
}

TEST(a_hole_of_damage_is_seen_whole)
{
	struct buffer b = plain_buffer();

	/* In the line and further out, with intact bytes between: one finding, found by the line. */
	damage(b.place.zone_tail + 10, 3);
	damage(b.place.zone_tail + 2000, 5);
	damage(b.place.end - 1, 1);
	sweep();
	take_checked(true, &b, b.place.zone_tail + 10, 9, (long)(b.place.end - b.place.zone_tail) - 10);
	free_quietly(&b);
}

TEST(many_buffers_damaged_at_once_are_all_reported)
{
	enum { BUFFERS = 500 };
	static struct buffer buffers[BUFFERS];
	unsigned n;

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

TEST(damage_that_grows_is_reported_whole)
{
	struct buffer b = plain_buffer();
	struct report first, final;

	sweep();
	begin_work();
	damage(b.place.zone_tail + 8, 4);
	sweep();
	first = take_checked(false, &b, b.place.zone_tail + 8, 4, 4);
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

TEST(damage_put_back_is_still_reported)
{
	struct buffer b = plain_buffer();
	struct report r;

	begin_work();
	damage(b.place.body - 16, 16);
	sweep();
	r = take_checked(false, &b, b.place.body - 16, 16, 16);
	assert_false(r.restored);
	damage(b.place.body - 16, 16); /* as it was */
	sweep();
	end_work();
	sweep();
	r = take_checked(true, &b, b.place.body - 16, 16, 16);
	assert_true(r.restored);
	free_quietly(&b);
}

/* Far out no sweep compares each time, but what is pending is looked at by every one. */
TEST(pending_damage_is_followed_far_out)
{
	struct buffer b = plain_buffer(), c = plain_buffer();
	uint64_t off = gmod_page_size() - 100;

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

TEST(a_record_used_again_is_guarded_again)
{
	struct buffer b = plain_buffer();
	const struct gmod_record *record = b.record;

	for (int i = 0; i < 4; i++) {
		assert_ptr_equal(b.record, record);
		damage(b.place.zone_tail + 1, 2);
		sweep();
		take_checked(true, &b, b.place.zone_tail + 1, 2, 2);
		free_quietly(&b);
		b = plain_buffer();
	}
	free_quietly(&b);
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

TEST(a_line_was_intact_when_it_was_last_swept)
{
	struct buffer b = plain_buffer(), c = plain_buffer();
	struct gmod_moment latest;
	struct report r;

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

TEST(a_new_buffer_was_intact_when_it_was_made)
{
	struct buffer b;
	struct report r;

	sweep();
	b = plain_buffer();
	damage(b.place.zone_tail, 1);
	sweep();
	r = take_one(true);
	check_stamp(r.intact, gmod_record_details(b.record)->allocated_ns);
	free_quietly(&b);
}

static bool suspects(const struct report *r, const char *kernel)
{
	return strstr(r->suspects, kernel) != NULL;
}

/* Not who was launched since, but whoever was not known to be done when the line was last seen intact. */
TEST(suspects_are_those_that_could_have_written)
{
	static const char *const names[] = {"proven_before", "long_running", "between_sweeps", "proven_between"};
	struct buffer b = plain_buffer();
	struct report r;

	for (uint64_t i = 0; i < 4; i++)
		gmod_name_learn(0x6000 + i * 16, names[i], 0);
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

/* Launches that are known to be done are noted before the time that is said of what was intact. */
TEST(a_launch_that_was_proven_is_cleared_by_the_next_sweep)
{
	uint64_t number = atomic_load(&gmod_thread_self()->launches);

	launch(0x7400, 0x6000);
	gmod_prove_stream(0x7400, gmod_ticks());
	sweep();
	assert_true(gmod_launch_complete(gmod_thread_self(), number, gmod_sweep_latest().ticks));
}

/* ---- when, and under a pin ---- */

/* The pages beside a buffer are taken away; who looks there comes to on_fault(). */
static struct {
	struct buffer b;
	int faults, wanted;
	struct gmod_moment looked;
	atomic_bool looking, released;
	bool too_early;
} trap;

/*
 * A sweep looks at the line before the buffer, at the one behind it, and then further out. While it is in the midst of
 * the wanted look, a release must not come to its end.
 */
static void on_fault(__attribute__((unused)) int signal, siginfo_t *info, __attribute__((unused)) void *context)
{
	uint64_t at = (uint64_t)(uintptr_t)info->si_addr, head = trap.b.place.body - 1;

	if (++trap.faults == 1)
		trap.looked = gmod_now();
	if (trap.faults == trap.wanted) {
		atomic_store(&trap.looking, true);
		usleep(20000);
		trap.too_early = atomic_load(&trap.released);
	}
	set_page(at, PROT_READ | PROT_WRITE);
	if (trap.faults < trap.wanted)
		set_page(trap.faults % 2 ? trap.b.place.zone_tail : head, PROT_NONE);
}

static void *release_when_looking(void *unused)
{
	while (!atomic_load(&trap.looking))
		sched_yield();
	if (release_buffer(&trap.b))
		atomic_store(&trap.released, true);
	return unused;
}

static void check_a_release_waits(void (*look)(void), int wanted)
{
	struct sigaction before, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
	pthread_t thread;

	memset(&trap, 0, sizeof(trap));
	trap.b = plain_buffer();
	trap.wanted = wanted;
	sigaction(SIGSEGV, &ours, &before);
	thread = begin_thread(release_when_looking, NULL);
	set_page(trap.b.place.body - 1, PROT_NONE);
	look();
	end_thread(thread);
	sigaction(SIGSEGV, &before, NULL);
	assert_int_equal(trap.faults, wanted);
	assert_false(trap.too_early);
	assert_true(atomic_load(&trap.released));
	drop_buffer(&trap.b);
}

TEST(a_sweep_is_stamped_before_it_looks)
{
	check_a_release_waits(sweep, 1);
	assert_true(gmod_sweep_latest().ticks < trap.looked.ticks && gmod_sweep_latest().ns <= trap.looked.ns);
}

TEST(a_release_waits_for_each_kind_of_look)
{
	check_a_release_waits(sweep, 2);
	check_a_release_waits(sweep, 3);
	check_a_release_waits(sweep_thoroughly, 1);
	take_none();
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
	return in_a_thread(try_lock, &timeout) != NULL;
}

TEST(one_thread_sweeps_at_a_time)
{
	struct gmod_moment start;

	assert_true(gmod_sweep_lock(0));
	assert_false(others_get_the_lock(0));
	start = gmod_now();
	assert_false(others_get_the_lock(30000000));
	assert_true(gmod_now().ns - start.ns >= 25000000);
	gmod_sweep_unlock();
	assert_true(others_get_the_lock(0));
	assert_true(others_get_the_lock(30000000));
}

TEST(no_report_holds_a_key)
{
	check_reports_hold_no_key();
}
