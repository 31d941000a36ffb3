#include "monitor/watch/monitor.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/futex.h"
#include "lib/base/log.h"
#include "lib/base/phase.h"
#include "lib/base/worker.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"
#include "monitor/report/report.h"
#include "monitor/watch/budget.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/sweep.h"

#define HEARTBEAT_UNPROVEN GMOD_MILLISECONDS(500)
#define HEARTBEAT_SHARED GMOD_SECONDS(1)

/* How long the monitor may be stuck before nobody waits for it any more. */
#define PATIENCE GMOD_SECONDS(2)

/*
 * The thread:
 *
 *     ABSENT ──► STARTING ──► RUNNING ──► ENDED
 *        ^          │            │
 *        └──────────┘            └──► GIVEN_UP: it is stuck
 */
enum { ABSENT, STARTING, RUNNING, ENDED, GIVEN_UP };
static atomic_int life;
static atomic_int stopping; /* a futex too */
static const struct gmod_round *rounds;
static void (*look)(bool last);

/* What the thread knows between two sweeps; its own. */
struct pace {
	uint64_t activity;  /* counter when the last sweep began */
	uint64_t active_ns; /* when it was last seen to change */
	bool worked;        /* work was outstanding when the last sweep began */
	struct gmod_budget budget;
	unsigned seen; /* findings when this round began */
	bool pending;  /* a report was to come by then */
};

/* The end of the process cuts it short, and gmod_monitor_hurry(). */
static void nap(uint64_t ns)
{
	gmod_futex_wait(&stopping, 0, ns);
}

static uint64_t busy_interval(const struct pace *p)
{
	uint64_t wanted = gmod_options()->scan_interval_us * (uint64_t)1000, affordable = gmod_budget_pause(&p->budget);

	return wanted > affordable || !wanted ? wanted : affordable;
}

static uint64_t back_off(const struct pace *p, uint64_t now)
{
	uint64_t interval = busy_interval(p), quiet = (now - p->active_ns) / 16;

	if (!interval)
		return 0;

	if (gmod_damage_pending() && quiet > GMOD_DAMAGE_SETTLE_NS / 2)
		quiet = GMOD_DAMAGE_SETTLE_NS / 2;
	if (interval < quiet)
		interval = quiet;
	return interval < HEARTBEAT_UNPROVEN ? interval : HEARTBEAT_UNPROVEN;
}

void gmod_monitor_set_rounds(const struct gmod_round *all, void (*at_everything)(bool last))
{
	look = at_everything;
	rounds = all;
}

static atomic_int at_work; /* 1: a sweep or a tick goes on */

static bool is_suspended(void)
{
	return atomic_load_explicit(&gmod_hot.suspended, memory_order_seq_cst) > 0;
}

/* false: GMOD is suspended, and nothing has begun. */
static bool begin_work(void)
{
	/* seq_cst: who suspends sees that it goes on, or it sees that GMOD is suspended */
	atomic_store_explicit(&at_work, 1, memory_order_seq_cst);
	return !is_suspended();
}

static void end_work(void)
{
	/* release: what was asked has been asked for whoever waits */
	atomic_store_explicit(&at_work, 0, memory_order_release);
}

bool gmod_monitor_await_pause(uint64_t deadline)
{
	bool time_left = true;

	while (atomic_load_explicit(&at_work, memory_order_seq_cst) && gmod_monitor_lives() && time_left)
		time_left = gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10);
	return time_left;
}

static void tick(void)
{
	for (const struct gmod_round *r = rounds; r->tick && !gmod_monitor_stopping() && !is_suspended(); r++)
		r->tick();
}

static uint64_t least_leisure(void)
{
	uint64_t least = UINT64_MAX;

	for (const struct gmod_round *r = rounds; r->tick; r++) {
		uint64_t leisure = r->leisure();

		least = leisure < least ? leisure : least;
	}
	return least;
}

/* However long the pause between two sweeps is, some rounds must not wait for its end. */
static void nap_beside(const struct gmod_round *r, uint64_t ns)
{
	for (uint64_t most; r && ns > (most = r->patience()) && !gmod_monitor_stopping(); ns -= most) {
		nap(most);
		if (begin_work())
			r->tick();
		end_work();
	}
	nap(ns);
}

/* The one of them that is there, or NULL. */
static const struct gmod_round *round_that_cannot_wait(void)
{
	for (const struct gmod_round *r = rounds; r->tick; r++)
		if (r->patience)
			return r;
	return NULL;
}

/*
 * The pause between two sweeps comes first, and activity does not end it: a thread that launches work has to wake the
 * monitor only where it had nothing to do.
 */
static void rest(struct pace *p)
{
	uint64_t interval = busy_interval(p), leisure, longer;
	struct gmod_registry_stats stats;

	if (is_suspended()) {
		nap(HEARTBEAT_UNPROVEN);
		return;
	}
	if (interval)
		nap_beside(round_that_cannot_wait(), interval);
	if (gmod_activity_total() != p->activity)
		return;
	leisure = least_leisure();
	/* The device may still be writing, or somebody has something to do. */
	if (gmod_damage_pending() || gmod_work_outstanding() || leisure != UINT64_MAX) {
		longer = back_off(p, gmod_monotonic_ns());
		if (longer > leisure)
			longer = leisure;
		if (longer > interval)
			gmod_activity_sleep(p->activity, &stopping, longer - interval);
		return;
	}
	/* What has ended since the latest sweep began may have written after it: a guarded free is no activity. */
	if (p->worked)
		return;
	gmod_registry_stats(&stats);
	gmod_activity_sleep(p->activity, &stopping, stats.live_shared ? HEARTBEAT_SHARED : UINT64_MAX);
}

/* Whatever happens from here on is for the next sweep. */
static void note_activity(struct pace *p)
{
	uint64_t total = gmod_activity_total();

	if (total == p->activity)
		return;
	p->activity = total;
	p->active_ns = gmod_monotonic_ns();
}

static void sweep_once(struct pace *p)
{
	note_activity(p);
	p->worked = gmod_work_outstanding();
	if (!gmod_sweep_lock(GMOD_MILLISECONDS(100)))
		return;
	if (gmod_on() && !gmod_monitor_stopping())
		gmod_sweep();
	gmod_sweep_unlock();
}

/*
 * A round is a sweep, the ticks, the rest, and the waking up between them. One that found or reported something
 * is free: these are rare, and must not be late.
 */
static void account(struct pace *p)
{
	unsigned seen = gmod_finding_count();
	bool charged = seen == p->seen && !p->pending;

	gmod_budget_round(&p->budget, gmod_clock_ns(CLOCK_THREAD_CPUTIME_ID), gmod_monotonic_ns(), charged);
	p->seen = seen;
	p->pending = gmod_damage_pending();
}

static cpu_set_t cpus; /* of the process when GMOD was loaded */

void gmod_monitor_remember_cpus(void)
{
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		CPU_ZERO(&cpus);
}

static void leave_the_only_cpu(void)
{
	cpu_set_t inherited;

	/* Where it may not have them any more it stays. */
	if (!sched_getaffinity(0, sizeof(inherited), &inherited) && CPU_COUNT(&inherited) == 1 && CPU_COUNT(&cpus) > 1)
		sched_setaffinity(0, sizeof(cpus), &cpus);
}

static atomic_uint asked, answered; /* how often a look was wanted, and how many of these have had theirs */

static void look_if_asked(void)
{
	/* acquire: what the last to ask has said before is known to the look */
	unsigned wanted = atomic_load_explicit(&asked, memory_order_acquire);

	if (wanted == atomic_load_explicit(&answered, memory_order_relaxed))
		return;
	look(false);
	/* release: what it has seen is there for whoever waits */
	atomic_store_explicit(&answered, wanted, memory_order_release);
}

void gmod_monitor_ask(uint64_t deadline)
{
	unsigned mine;

	if (!gmod_monitor_lives() || gmod_is_monitor)
		return;
	mine = atomic_fetch_add_explicit(&asked, 1, memory_order_release) + 1;
	/* Woken over and over: it may have been about to sleep. */
	do {
		gmod_futex_wake(&stopping);
		gmod_activity_wake();
	} while ((int)(atomic_load_explicit(&answered, memory_order_acquire) - mine) < 0 &&
		 atomic_load_explicit(&life, memory_order_acquire) != ENDED &&
		 gmod_nap(&deadline, GMOD_MILLISECONDS(1)));
}

static void run(void)
{
	struct pace p = {0};

	gmod_is_monitor = true;
	prctl(PR_SET_TIMERSLACK, 1);
	leave_the_only_cpu();
	/* Here: the program's thread would wait some 60 us for it to be made. */
	gmod_report_start();
	p.active_ns = gmod_monotonic_ns();
	gmod_budget_open(&p.budget, gmod_options()->max_cpu, 0, p.active_ns);
	while (gmod_on() && !gmod_monitor_stopping()) {
		account(&p);
		if (begin_work()) {
			sweep_once(&p);
			tick();
		}
		end_work();
		gmod_damage_settle(false);
		look_if_asked();
		rest(&p);
	}
	if (look && gmod_monitor_stopping())
		look(true);
	/* release: whoever waits for the end sees what the look did */
	atomic_store_explicit(&life, ENDED, memory_order_release);
}

static bool change_life(int from, int to)
{
	return atomic_compare_exchange_strong_explicit(&life, &from, to, memory_order_acq_rel, memory_order_acquire);
}

/* Where the system gives no thread it may do so later: tried again at the second buffer, the fourth, the eighth, ... */
void gmod_monitor_ensure(void)
{
	static const struct gmod_worker worker = {"gmod-monitor", run};
	static atomic_ulong tries;
	static atomic_bool said;
	unsigned long before;
	int error;

	if (atomic_load_explicit(&life, memory_order_relaxed) != ABSENT)
		return;
	before = atomic_fetch_add_explicit(&tries, 1, memory_order_relaxed);
	if ((before & (before + 1)) || !change_life(ABSENT, STARTING))
		return;
	gmod_report_expect(true);
	error = gmod_worker_start(&worker);
	if (!error) {
		/* It may have ended by now. */
		change_life(STARTING, RUNNING);
		return;
	}
	gmod_report_expect(false);
	if (gmod_degraded_first(&said))
		gmod_log_note(
		    0,
		    "nobody watches the buffers: no thread can be started (error %d); they are looked at when "
		    "they are freed, and at the end",
		    error);
	atomic_store_explicit(&life, ABSENT, memory_order_relaxed);
}

void gmod_monitor_hurry(void)
{
	gmod_futex_wake(&stopping);
}

bool gmod_monitor_stopping(void)
{
	return atomic_load_explicit(&stopping, memory_order_acquire);
}

void gmod_monitor_stop(void)
{
	atomic_store_explicit(&stopping, 1, memory_order_release);
	/* A fence, as a bump of activity has: before the look at who sleeps. */
	atomic_thread_fence(memory_order_seq_cst);
	gmod_futex_wake(&stopping);
	gmod_activity_wake();
}

bool gmod_monitor_finish(void)
{
	uint64_t deadline = PATIENCE;
	unsigned seen = 0;

	gmod_monitor_stop();
	if (!gmod_monitor_lives() || gmod_is_monitor)
		return false;
	/* acquire: what the monitor did last is visible */
	while (atomic_load_explicit(&life, memory_order_acquire) != ENDED) {
		unsigned now = atomic_load_explicit(&gmod_progress, memory_order_relaxed);

		if (now != seen)
			deadline = PATIENCE;
		seen = now;
		if (!gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10))
			return !change_life(RUNNING, GIVEN_UP) &&
			       atomic_load_explicit(&life, memory_order_acquire) == ENDED;
	}
	return true;
}

bool gmod_monitor_lives(void)
{
	int now = atomic_load_explicit(&life, memory_order_acquire);

	return now == RUNNING || now == ENDED;
}
