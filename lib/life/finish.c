#include "lib/life/finish.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/guard.h"
#include "lib/base/counters.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/base/phase.h"
#include "lib/buffers/confirm.h"
#include "lib/buffers/fence.h"
#include "lib/buffers/gather.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/ordered.h"
#include "lib/context/fault.h"
#include "lib/driver/driver.h"
#include "monitor/launches/journal.h"
#include "monitor/report/report.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/memory.h"
#include "monitor/watch/monitor.h"
#include "monitor/watch/sweep.h"

static void report_leaks(void)
{
	static atomic_bool done;

	if (gmod_options()->leak_check && gmod_first_time(&done))
		gmod_misuse_report_leaks();
}

/* Where more follows, what the CPU sees is told first: the driver may take its time. */
void gmod_look_at_all(bool last)
{
	if (!gmod_sweep_all(GMOD_SECONDS(1)))
		gmod_degraded("a look at all buffers");
	if (!last)
		gmod_damage_settle(true);
	gmod_gather(NULL, GMOD_GATHER_WHOLE);
	gmod_ordered_look();
	if (atomic_load_explicit(&gmod_hot.confirm, memory_order_relaxed))
		gmod_confirm_look();
	if (!gmod_guard_check(NULL, GMOD_SECONDS(1)))
		gmod_degraded("the last guard pass");
	gmod_guard_update_stats(NULL);
	gmod_fault_probe(NULL);
	gmod_damage_settle(true);
	if (last)
		report_leaks();
	else
		gmod_report_await();
}

/* What the thread that ends the process can do by itself, whatever it has interrupted: loads. */
static void look_by_loads(void)
{
	gmod_sweep_thorough(GMOD_PIN_EXIT);
	gmod_damage_settle(true);
	report_leaks();
}

/* Nobody can ask the driver. */
static void leave_the_device_out(void)
{
	struct gmod_registry_stats stats;

	gmod_registry_stats(&stats);
	if (stats.live_slack)
		gmod_degraded("the last look at what lies on the device");
}

/* Without a monitor a normal exit calls the driver by itself; what may have interrupted anything does not. */
static void look_for_the_last_time(enum gmod_ending how)
{
	bool there = gmod_monitor_lives();

	if (gmod_monitor_finish())
		return;
	if (!there && how == GMOD_BY_EXIT) {
		gmod_look_at_all(true);
		return;
	}
	if (there) {
		gmod_log_note(0, "the last look at the buffers was cut short: the driver has not answered for 2 s");
		gmod_count(&gmod_counters.degraded, 1);
	} else {
		leave_the_device_out();
	}
	look_by_loads();
}

/* For gmod --supervise, which has made the file and takes it away. */
static void add_to_tally(void)
{
	const char *path = gmod_options()->tally;
	struct gmod_run_summary s;
	char line[64];
	int length, fd;

	if (!*path)
		return;
	gmod_report_counts(&s);
	length = snprintf(line, sizeof(line), "%llu %llu\n", (unsigned long long)gmod_summary_guarded(&s),
			  (unsigned long long)gmod_summary_bytes(&s));
	fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || write(fd, line, (size_t)length) != length)
		gmod_degraded("the tally");
	if (fd >= 0)
		close(fd);
}

static void summarise(void)
{
	struct gmod_run_summary s;

	add_to_tally();
	gmod_report_counts(&s);
	gmod_stats_write(&s, true);
	gmod_report_counts(&s); /* that nothing could be written, too */
	gmod_say_outdated();
	gmod_fence_say_unmet();
	if (gmod_options()->verbosity >= 1)
		gmod_report_summary(&s);
}

static atomic_bool finished; /* the last is said */

static void await_the_last(uint64_t deadline)
{
	while (!atomic_load_explicit(&finished, memory_order_acquire) && gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
		;
}

/*
 * exit() in one thread and _exit() in another: the second waits, within reason, for the first one's reports. A signal
 * handler that ends the process in the midst of its own thread's exit() does what is left to do.
 */
static bool first_to_finish(void)
{
	static atomic_int finisher;
	int self = (int)syscall(SYS_gettid), expected = 0;

	if (atomic_compare_exchange_strong_explicit(&finisher, &expected, self, memory_order_relaxed,
						    memory_order_relaxed) ||
	    expected == self)
		return true;
	gmod_monitor_finish();
	await_the_last(GMOD_SECONDS(3));
	return false;
}

/* With signals held off: once, and not half. */
void gmod_say_the_last(void)
{
	static atomic_bool begun;
	struct gmod_scope scope;

	gmod_scope_begin(&scope);
	if (gmod_first_time(&begun)) {
		gmod_report_end();
		gmod_journal_end(GMOD_MILLISECONDS(80));
		summarise();
		/* release: it is written for the thread that waits */
		atomic_store_explicit(&finished, true, memory_order_release);
	}
	await_the_last(GMOD_SECONDS(1));
	gmod_scope_end(&scope);
}

static void finish(enum gmod_ending how)
{
	if (gmod_on())
		look_for_the_last_time(how);
	gmod_phase_set(GMOD_WINDING_DOWN);
	if (how == GMOD_BY_EXIT)
		gmod_busy_wait(2000);
	if (!gmod_report_await())
		gmod_report_abandon();
	gmod_journal_end(GMOD_SECONDS(2));
	if (gmod_memory_is_wanted())
		gmod_report_say(gmod_memory_say, GMOD_MILLISECONDS(500));
	gmod_say_the_last();
	gmod_keeper_clean_up();
}

/* A thread that has been cancelled may be the one that ends the process. */
void gmod_finish(enum gmod_ending how)
{
	struct gmod_cancel cancel;

	if (!gmod_phase_is_ours())
		return;
	cancel = gmod_cancel_begin();
	if (first_to_finish())
		finish(how);
	gmod_cancel_end(cancel);
}

void gmod_look(uint64_t deadline, bool ends)
{
	struct gmod_cancel cancel;

	if (!gmod_phase_is_ours())
		return;
	cancel = gmod_cancel_begin();
	gmod_monitor_ask(deadline);
	if (ends) {
		gmod_report_say(gmod_say_the_last, GMOD_MILLISECONDS(100));
	} else {
		gmod_journal_end(GMOD_MILLISECONDS(100));
		gmod_report_await_command();
	}
	gmod_cancel_end(cancel);
}

int gmod_exit_status(int status)
{
	bool counts = gmod_phase_is_ours() && gmod_options()->exit_on_findings && gmod_report_findings();

	/* Natively a program that ends at once behind a fault has status 0. */
	counts = counts || (gmod_phase_is_ours() && !status && gmod_fault_is_unseen());
	return counts ? (int)gmod_options()->exitcode : status;
}
