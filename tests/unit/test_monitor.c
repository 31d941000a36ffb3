/* Sweeps beside other threads: buffers that come and go meanwhile, and the monitor's thread, which sleeps and wakes. */
#include <signal.h>

#include "lib/base/facts.h"
#include "lib/base/counters.h"
#include "monitor/watch/monitor.h"

#include "tests/unit/sweeping.h"
#include "monitor/watch/verify.h"

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

TEST(buffers_freed_under_a_sweep_are_reported_once)
{
	pthread_t sweeper = begin_thread(sweep_on, NULL);
	unsigned n;

	in_threads(THREADS, damage_and_free);
	atomic_store(&stop, true);
	end_thread(sweeper);
	assert_false(gmod_damage_pending());
	n = take_reports(many, 4096);
	assert_int_equal(count_finals(many, n), damaged);
}

/* ---- the monitor ---- */

static void wait_for_sweeps(uint64_t count)
{
	for (int i = 0; i < 200000 && atomic_load(&gmod_counters.sweeps) < count; i++)
		usleep(20);
	CHECK(atomic_load(&gmod_counters.sweeps) >= count, "the monitor sleeps");
}

/* From here on the monitor's thread sweeps, too. */
TEST(activity_is_followed_by_a_sweep)
{
	uint64_t before;

	gmod_monitor_ensure();
	gmod_monitor_ensure();
	for (int i = 0; i < 100; i++) {
		before = atomic_load(&gmod_counters.sweeps);
		gmod_note_activity(gmod_thread_self());
		wait_for_sweeps(before + 1);
	}
	/* The GPU is at rest, no memory is shared: it sleeps, on a busy machine a little later. */
	for (int i = 0; i < 3; i++) {
		usleep(100000);
		before = atomic_load(&gmod_counters.sweeps);
		usleep(300000);
		if (atomic_load(&gmod_counters.sweeps) == before)
			return;
	}
	CHECK(false, "a quiet heap is swept");
}

/* The monitor is held up by a page that is not there. */
static struct buffer held;
static atomic_bool held_up, go_on;

static void hold_up(__attribute__((unused)) int signal)
{
	atomic_store(&held_up, true);
	while (!atomic_load(&go_on))
		usleep(100);
	set_page(held.place.body - 1, PROT_READ | PROT_WRITE);
}

TEST(what_is_noted_during_a_sweep_has_a_sweep_of_its_own)
{
	struct sigaction before, ours = {.sa_handler = hold_up};
	uint64_t sweeps;

	held = plain_buffer();
	sigaction(SIGSEGV, &ours, &before);
	set_page(held.place.body - 1, PROT_NONE);
	gmod_note_activity(gmod_thread_self());
	for (int i = 0; i < 20000 && !atomic_load(&held_up); i++)
		usleep(100);
	assert_true(atomic_load(&held_up));
	sweeps = atomic_load(&gmod_counters.sweeps);
	gmod_note_activity(gmod_thread_self());
	atomic_store(&go_on, true);
	wait_for_sweeps(sweeps + 2);
	sigaction(SIGSEGV, &before, NULL);
	free_quietly(&held);
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

TEST(what_is_noted_while_the_monitor_falls_asleep_is_seen)
{
	enum { BUFFERS = SANITIZED ? 200 : 800 };
	static struct buffer buffers[BUFFERS];
	uint64_t seed = 5;
	unsigned seen, n;

	for (int i = 0; i < BUFFERS; i++)
		buffers[i] = plain_buffer();
	for (int i = 0; i < 2 * BUFFERS; i++) {
		const struct buffer *b = &buffers[i / 2];

		wait_for_the_end_of_a_sweep(random_below(&seed, 80));
		seen = gmod_finding_count();
		damage(i % 2 ? b->place.zone_tail : b->place.body - 1, 1);
		gmod_note_activity(gmod_thread_self());
		for (int k = 0; k < 20000 && gmod_finding_count() == seen; k++)
			usleep(100);
		CHECK(gmod_finding_count() == seen + 1, "the monitor sleeps, round %d", i);
	}
	for (int k = 0; k < 2000 && gmod_damage_pending(); k++)
		usleep(1000);
	usleep(20000);
	n = take_reports(many, 4096);
	assert_int_equal(n, 2 * BUFFERS);
	for (int i = 0; i < BUFFERS; i++)
		free_quietly(&buffers[i]);
}

TEST(a_stopped_monitor_sweeps_no_more)
{
	uint64_t before;

	gmod_monitor_stop();
	assert_true(gmod_monitor_stopping());
	usleep(20000);
	before = atomic_load(&gmod_counters.sweeps);
	gmod_note_activity(gmod_thread_self());
	usleep(50000);
	assert_int_equal(atomic_load(&gmod_counters.sweeps), before);
}

TEST(no_report_holds_a_key)
{
	check_reports_hold_no_key();
}
