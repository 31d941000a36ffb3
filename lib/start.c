#include "lib/start.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/driver.h"
#include "lib/exit_hook.h"
#include "lib/heap.h"
#include "lib/log.h"
#include "lib/misuse.h"
#include "lib/process.h"
#include "monitor/gather.h"
#include "monitor/monitor.h"
#include "monitor/postmortem.h"
#include "monitor/report.h"
#include "monitor/sweep.h"

#define EXIT_PATIENCE_NS ((uint64_t)2000000000)

static struct gmod_options options;
static size_t page_size;
static pid_t home;
static atomic_bool start_tried;

struct gmod_counters gmod_counters;

const struct gmod_options *gmod_options(void)
{
	return &options;
}

size_t gmod_page_size(void)
{
	return page_size;
}

void gmod_degraded(const char *what)
{
	enum { REMEMBERED = 16 };
	static _Atomic(const char *) said[REMEMBERED];

	gmod_count(&gmod_counters.degraded, 1);
	for (int i = 0; i < REMEMBERED; i++) {
		const char *expected = NULL;

		if (atomic_compare_exchange_strong_explicit(&said[i], &expected, what, memory_order_relaxed,
							    memory_order_relaxed)) {
			gmod_log_note(2, "degraded: %s failed; the program goes on without it", what);
			return;
		}
		if (!strcmp(expected, what))
			return;
	}
}

/* environ is read once, here: what the program puts there later is its own affair. */
static void read_options(void)
{
	const char *text = secure_getenv("GMOD_OPTIONS");

	gmod_options_defaults(&options);
	gmod_log_remember_stderr();
	/* Complaints come out on stderr, in words: whoever mistyped an option may not have a log yet. */
	gmod_log_open(NULL, false, 0);
	if (text)
		gmod_options_parse(&options, text, gmod_log_string, NULL);
	gmod_log_open(options.log_path, options.log_format == GMOD_OPTION_LOG_JSON, options.verbosity);
	if (options.help)
		gmod_options_help(gmod_log_string, NULL);
}

static bool set_up(void)
{
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	home = getpid();
	read_options();
	if (!options.enabled)
		return false;
	gmod_report_init(&options);
	if (!gmod_process_arm()) {
		gmod_log_note(0, "not guarding: the kernel gave no random key or no wipe-on-fork memory");
		return false;
	}
	gmod_index_init(page_size);
	return true;
}

void gmod_start(void)
{
	if (atomic_load_explicit(&start_tried, memory_order_relaxed) ||
	    atomic_exchange_explicit(&start_tried, true, memory_order_acq_rel) || gmod_secure() ||
	    !gmod_driver_resolve() || !set_up())
		return;
	/* Registered after the driver's own handler, so it runs before that. */
	atexit(gmod_finish);
	gmod_process_set_phase(GMOD_ON);
	gmod_log_note(2, "started: %u hooks armed", gmod_hooks_armed());
}

static void last_look(void)
{
	if (gmod_sweep_lock(EXIT_PATIENCE_NS)) {
		gmod_sweep_thorough();
		gmod_sweep_unlock();
	}
	gmod_gather(NULL, GMOD_GATHER_WHOLE);
	gmod_watch_settle(true);
	if (options.leak_check)
		gmod_misuse_report_leaks();
}

static uint64_t value(_Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void summarise(void)
{
	struct gmod_counters *c = &gmod_counters;
	struct gmod_run_summary s;

	gmod_report_counts(&s);
	s.hooks_armed = gmod_hooks_armed();
	s.buffers_guarded = value(&c->guarded);
	s.bytes_guarded = value(&c->guarded_bytes);
	s.buffers_unprotected = value(&c->unprotected);
	s.bytes_unprotected = value(&c->unprotected_bytes);
	s.bytes_asked = s.bytes_guarded + s.bytes_unprotected;
	s.uncovered = value(&c->uncovered);
	s.bytes_uncovered = value(&c->uncovered_bytes);
	s.buffers_host = value(&c->host);
	s.bytes_host = value(&c->host_bytes);
	s.sweeps = value(&c->sweeps);
	s.degraded = value(&c->degraded);
	gmod_report_summary(&s);
}

/* exit() in one thread and _exit() in another: the second waits, within reason, for the first one's reports. */
static bool first_to_finish(void)
{
	static atomic_int progress; /* 0 not begun, 1 under way, 2 done */
	static _Thread_local bool mine;
	int expected = 0;

	if (mine) {
		atomic_store_explicit(&progress, 2, memory_order_release);
		return false;
	}
	mine = atomic_compare_exchange_strong_explicit(&progress, &expected, 1, memory_order_acq_rel,
						       memory_order_acquire);
	for (int i = 0; !mine && i < 3000 && atomic_load_explicit(&progress, memory_order_acquire) == 1; i++)
		usleep(1000);
	return mine;
}

static void finish(void)
{
	gmod_monitor_stop();
	/* A driver call of the monitor's must not meet the driver's own clean-up. */
	gmod_gather_drain();
	if (gmod_on() && !gmod_is_post_mortem())
		last_look();
	gmod_process_set_phase(GMOD_WINDING_DOWN);
	gmod_busy_wait(2000);
	gmod_report_end();
	if (options.verbosity >= 1)
		summarise();
	first_to_finish(); /* done: lets a waiting thread go on */
}

/* A thread that has been cancelled may be the one that ends the process. */
void gmod_finish(void)
{
	struct gmod_cancel cancel;

	/* A vfork child shares our memory, flag included, but is not us. */
	if (gmod_phase() == GMOD_OFF || getpid() != home)
		return;
	cancel = gmod_hold_cancel();
	if (first_to_finish())
		finish();
	gmod_let_cancel(cancel);
}

int gmod_exit_status(int status)
{
	bool ours = gmod_phase() != GMOD_OFF && getpid() == home;

	return ours && options.exit_on_findings && gmod_report_findings() ? (int)options.exitcode : status;
}

__attribute__((constructor)) static void at_load(void)
{
	gmod_log_remember_stderr();
}

/* Runs after the program's exit handlers. Its streams are flushed here because ending now keeps the C library from it.
 */
__attribute__((destructor)) static void at_unload(void)
{
	if (gmod_exit_status(0)) {
		fflush(NULL);
		gmod_real_exit(gmod_exit_status(0));
	}
}
