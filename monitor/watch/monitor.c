#include "monitor/watch/monitor.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "device/guard.h"
#include "lib/base/deadline.h"
#include "lib/base/phase.h"
#include "lib/base/facts.h"
#include "monitor/launches/activity.h"
#include "monitor/watch/budget.h"
#include "lib/buffers/gather.h"
#include "monitor/watch/postmortem.h"
#include "monitor/watch/sweep.h"

#define NS_PER_US ((uint64_t)1000)
#define NS_PER_MS ((uint64_t)1000000)
#define HEARTBEAT_UNPROVEN (500 * NS_PER_MS)
#define HEARTBEAT_SHARED (1000 * NS_PER_MS)
#define GUARD_PAUSE_MAX (5 * NS_PER_MS)
#define STACK_SIZE ((size_t)512 << 10)

/* How long the monitor may be stuck before nobody waits for it any more. */
#define PATIENCE GMOD_SECONDS(2)

static atomic_bool started, running, given_up;
static atomic_int stopping, ended; /* each a futex too */
static _Atomic(void (*)(void)) last_task;
static _Atomic unsigned progress;
static __thread bool is_monitor __attribute__((tls_model("initial-exec")));

/* What the thread knows between two sweeps; its own. */
struct pace {
	uint64_t activity;     /* counter when the last sweep began */
	uint64_t active_ns;    /* when it was last seen to change */
	uint64_t gathered_ns;  /* when the last gather ended, or the thread began */
	uint64_t gather_pause; /* what max_cpu demands between two gathers */
	bool gathered_since;   /* a gather began after the last activity */
	struct gmod_budget budget;
	unsigned seen; /* findings when this round began */
	bool pending;  /* a report was to come by then */
};

static void futex_wait(atomic_int *futex, int while_it_is, uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, while_it_is, ns == UINT64_MAX ? NULL : &t, NULL, 0);
}

static void futex_wake(atomic_int *futex)
{
	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void gmod_monitor_wake(void)
{
	int saved = errno;

	if (atomic_exchange_explicit(&gmod_hot.sleeping, 0, memory_order_acq_rel))
		futex_wake(&gmod_hot.sleeping);
	errno = saved;
}

/* Sleep until woken by activity or for ns; returns at once if something happened since the last sweep began. */
static void sleep_until_activity(const struct pace *p, uint64_t ns)
{
	atomic_store_explicit(&gmod_hot.sleeping, 1, memory_order_seq_cst);
	/* The flag is visible before we look at the counters; see monitor/launches/activity.h. */
	if (gmod_activity_barrier() && gmod_activity_total() == p->activity &&
	    !atomic_load_explicit(&stopping, memory_order_acquire))
		futex_wait(&gmod_hot.sleeping, 1, ns);
	atomic_store_explicit(&gmod_hot.sleeping, 0, memory_order_relaxed);
}

/* Nothing but the end of the process cuts it short. */
static void nap(uint64_t ns)
{
	futex_wait(&stopping, 0, ns);
}

static uint64_t busy_interval(const struct pace *p)
{
	uint64_t wanted = gmod_options()->scan_interval_us * NS_PER_US, affordable = gmod_budget_pause(&p->budget);

	return wanted > affordable || !wanted ? wanted : affordable;
}

static uint64_t back_off(const struct pace *p, uint64_t now)
{
	uint64_t interval = busy_interval(p), quiet = (now - p->active_ns) / 16;

	if (!interval)
		return 0;

	if (gmod_watch_pending() && quiet > GMOD_WATCH_SETTLE_NS / 2)
		quiet = GMOD_WATCH_SETTLE_NS / 2;
	if (interval < quiet)
		interval = quiet;
	return interval < HEARTBEAT_UNPROVEN ? interval : HEARTBEAT_UNPROVEN;
}

static bool needs_gather(const struct pace *p)
{
	struct gmod_registry_stats stats;

	gmod_registry_stats(&stats);
	return gmod_options()->gather_interval_ms && stats.live_slack && !p->gathered_since;
}

/* The device may still be writing, or a gather is due for what it wrote last. */
static bool is_unsettled(const struct pace *p)
{
	return gmod_watch_pending() || gmod_work_outstanding() || needs_gather(p);
}

/*
 * However long the pause between two sweeps is: kernels whose heap is short of memory wait for the guard's next look,
 * for some 30 ms and no longer.
 */
static void nap_beside_guard(uint64_t ns)
{
	while (ns > GUARD_PAUSE_MAX && gmod_guard_leisure() != UINT64_MAX && !gmod_monitor_stopping()) {
		nap(GUARD_PAUSE_MAX);
		gmod_guard_tick();
		ns -= GUARD_PAUSE_MAX;
	}
	nap(ns);
}

/*
 * The pause between two sweeps comes first, and activity does not end it: a thread that launches work has to wake the
 * monitor only where it had nothing to do.
 */
static void rest(struct pace *p)
{
	uint64_t interval = busy_interval(p), leisure, longer;
	struct gmod_registry_stats stats;

	if (interval)
		nap_beside_guard(interval);
	if (gmod_activity_total() != p->activity)
		return;
	gmod_registry_stats(&stats);
	leisure = gmod_guard_leisure();
	if (is_unsettled(p) || leisure != UINT64_MAX) {
		longer = back_off(p, gmod_monotonic_ns());
		if (longer > leisure)
			longer = leisure;
		if (longer > interval)
			sleep_until_activity(p, longer - interval);
	} else {
		sleep_until_activity(p, stats.live_shared ? HEARTBEAT_SHARED : UINT64_MAX);
	}
}

static uint64_t gather_interval(const struct pace *p)
{
	uint64_t wanted = gmod_options()->gather_interval_ms * NS_PER_MS;

	return wanted > p->gather_pause ? wanted : p->gather_pause;
}

static void gather_if_due(struct pace *p)
{
	uint64_t now = gmod_monotonic_ns(), cpu;

	if (gmod_monitor_stopping())
		return;
	if (!gmod_watch_wants_slack() && (!needs_gather(p) || now - p->gathered_ns < gather_interval(p)))
		return;
	cpu = gmod_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	/* Only a gather that begins when all work is done has seen everything. */
	p->gathered_since = !gmod_work_outstanding();
	p->gathered_since = gmod_gather(NULL, GMOD_GATHER_NEAR) && p->gathered_since;
	cpu = gmod_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	/* Half of the budget: sweeps go on meanwhile. */
	p->gather_pause = 2 * gmod_budget_ns_for(&p->budget, cpu);
	gmod_budget_put_off(&p->budget, cpu, gather_interval(p));
	p->gathered_ns = gmod_monotonic_ns();
}

/* Whatever happens from here on is for the next sweep, and for a gather that begins after this. */
static void note_activity(struct pace *p)
{
	uint64_t total = gmod_activity_total();

	if (total == p->activity)
		return;
	p->activity = total;
	p->active_ns = gmod_monotonic_ns();
	p->gathered_since = false;
}

static void sweep_once(struct pace *p)
{
	note_activity(p);
	if (!gmod_sweep_lock(100 * NS_PER_MS))
		return;
	if (gmod_on() && !gmod_monitor_stopping())
		gmod_sweep();
	gmod_sweep_unlock();
}

/*
 * A round is a sweep, perhaps a gather, the rest, and the waking up between them. One that found or reported something
 * is free: these are rare, and must not be late.
 */
static void account(struct pace *p)
{
	unsigned seen = gmod_watch_seen();
	bool charged = seen == p->seen && !p->pending;

	gmod_budget_round(&p->budget, gmod_clock_ns(CLOCK_THREAD_CPUTIME_ID), gmod_monotonic_ns(), charged);
	p->seen = seen;
	p->pending = gmod_watch_pending();
}

/* Lets through what kills a thread for its own fault; everything else is the program's to handle. */
static void block_signals(void)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	sigdelset(&set, SIGILL);
	sigdelset(&set, SIGFPE);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
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

static void do_last_task(void)
{
	/* acquire, by gmod_monitor_stopping(): the task is there for whoever sees that it is to stop */
	void (*task)(void) = gmod_monitor_stopping() ? atomic_load_explicit(&last_task, memory_order_relaxed) : NULL;

	if (task)
		task();
	/* release: whoever waits for the end sees what the task did */
	atomic_store_explicit(&ended, 1, memory_order_release);
	futex_wake(&ended);
}

static void *run(void *unused)
{
	struct pace p = {0};

	(void)unused;
	is_monitor = true;
	prctl(PR_SET_NAME, "gmod-monitor");
	prctl(PR_SET_TIMERSLACK, 1);
	block_signals();
	leave_the_only_cpu();
	/* The first gather, too, comes after its interval: while a program begins it needs the driver for itself. */
	p.active_ns = p.gathered_ns = gmod_monotonic_ns();
	gmod_budget_open(&p.budget, gmod_options()->max_cpu, 0, p.gathered_ns);
	while (gmod_on() && !gmod_monitor_stopping()) {
		account(&p);
		sweep_once(&p);
		gather_if_due(&p);
		gmod_guard_tick();
		gmod_watch_settle(false);
		rest(&p);
	}
	do_last_task();
	/* Never returns: a thread that has called the driver runs clean-up of the driver's when it ends. */
	for (;;)
		pause();
	return NULL;
}

static bool create(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all, before;
	bool ok;

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	/* Blocked from birth: no signal of the program's may land in the new thread before it blocks them itself. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ok = pthread_create(&thread, &attributes, run, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return ok;
}

void gmod_monitor_ensure(void)
{
	if (atomic_load_explicit(&started, memory_order_relaxed) ||
	    atomic_exchange_explicit(&started, true, memory_order_relaxed))
		return;
	if (create())
		atomic_store_explicit(&running, true, memory_order_release);
	else
		gmod_degraded("pthread_create");
}

bool gmod_monitor_stopping(void)
{
	return atomic_load_explicit(&stopping, memory_order_acquire);
}

void gmod_monitor_stop(void)
{
	/* seq_cst: ordered before the look at who sleeps, as a bump of activity is */
	atomic_store_explicit(&stopping, 1, memory_order_seq_cst);
	futex_wake(&stopping);
	gmod_monitor_wake();
}

void gmod_monitor_progress(void)
{
	if (is_monitor)
		atomic_fetch_add_explicit(&progress, 1, memory_order_relaxed);
}

static void wait_for_the_end(uint64_t *deadline)
{
	uint64_t began = gmod_monotonic_ns();

	futex_wait(&ended, 0, GMOD_MILLISECONDS(20));
	gmod_waited(deadline, began, GMOD_MILLISECONDS(20));
}

bool gmod_monitor_finish(void (*task)(void))
{
	uint64_t deadline = PATIENCE;
	unsigned seen = 0;

	if (task)
		atomic_store_explicit(&last_task, task, memory_order_relaxed);
	gmod_monitor_stop();
	if (!gmod_monitor_lives() || is_monitor)
		return false;
	/* acquire: what the monitor did last is visible */
	while (!atomic_load_explicit(&ended, memory_order_acquire)) {
		unsigned now = atomic_load_explicit(&progress, memory_order_relaxed);

		if (now != seen)
			deadline = PATIENCE;
		seen = now;
		wait_for_the_end(&deadline);
		if (deadline)
			continue;
		atomic_store_explicit(&given_up, true, memory_order_relaxed);
		return false;
	}
	return true;
}

bool gmod_monitor_lives(void)
{
	return atomic_load_explicit(&running, memory_order_acquire) &&
	       !atomic_load_explicit(&given_up, memory_order_relaxed);
}
