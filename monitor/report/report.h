/*
 * Findings become reports here: once each, in text or JSON, with floods counted instead of printed.
 *
 *     whoever detects ──copied──► a ring ──► gmod-report: judged, symbolised, formatted, written
 *
 * The thread gmod-report waits for the log, however long that takes. The end of the process, the checks of gmod.h and
 * halt_on_error wait for the thread, within a deadline each, and nobody else. The thread starts with the monitor;
 * without it, whoever calls gmod_report() or gmod_report_flush() tells what is there.
 *
 * Every function may be called from any thread, from inside a hook and from atexit handlers, and changes no errno;
 * none allocates, waits for the program or touches CUDA. Not for signal handlers, and not for a forked child, whose
 * state is its parent's.
 */
#ifndef GMOD_MONITOR_REPORT_REPORT_H
#define GMOD_MONITOR_REPORT_REPORT_H

#include <stdatomic.h>

#include "lib/base/log.h"
#include "lib/base/options.h"
#include "monitor/registry/finding.h"
#include "monitor/report/summary.h"

#define GMOD_REPORTS_PER_SITE 5

/*
 * After gmod_facts_init(): load the suppressions, naming each bad line once, and set the counts to zero; the ids and
 * sites seen stay known. Call it once, before others report. halt_process: called by the thread that gives reports when
 * one is out at which the options have the process end.
 */
void gmod_report_init(void (*halt_process)(void));

/*
 * true: reports are left to the thread that gmod_report_start() will make, however late that runs on a busy machine: it
 * alone waits for a log that takes nothing. false: there will be none. One caller at a time.
 */
void gmod_report_expect(bool thread);
/* Make the thread that is expected. Once. */
void gmod_report_start(void);

/*
 * Report a finding, unless it is suppressed, has been reported (a second FINAL of an id, a second PROVISIONAL), is
 * one too many of its site, or one too many altogether. The FINAL of a printed PROVISIONAL is always printed. With
 * halt_on_error=1, in mallocN's memory device_halt_on_error=1, it does not return from a FINAL that no suppression
 * covers.
 *
 * gmod_report_add() is the first half, for who holds a lock or a pin: *f is copied, but not what it points to. Where
 * the log takes nothing and the ring is full the finding is counted and lost, after 2 s. gmod_report_flush()
 * follows when these are given back.
 */
void gmod_report(const struct gmod_finding *f);
void gmod_report_add(const struct gmod_finding *f);
void gmod_report_flush(void);

/*
 * A report is on its way from gmod_report_pending_begin() to gmod_report_pending_end(), both by one thread, which keeps
 * signals away in between: for findings that nothing but a thread's stack holds.
 */
extern atomic_int gmod_reports_coming;
static inline void gmod_report_pending_begin(void)
{
	atomic_fetch_add_explicit(&gmod_reports_coming, 1, memory_order_relaxed);
}
static inline void gmod_report_pending_end(void)
{
	/* release: it is written for whoever sees the count go down */
	atomic_fetch_sub_explicit(&gmod_reports_coming, 1, memory_order_release);
}

/*
 * Have the thread call last() behind all that was reported, and wait for that, for `deadline` ns at most. From signal
 * handlers, too.
 */
void gmod_report_say(void (*last)(void), uint64_t deadline);

/* Wait until all that was reported so far is written; false: nothing was for 2 s. */
bool gmod_report_await(void);
/* Nothing more is told but what is being told just now: the rest is counted, and lost. */
void gmod_report_abandon(void);

/* Before the end, and before an exec: what that starts would keep the memory until then, and get SIGCHLD. */
void gmod_report_await_command(void);

/* FINAL findings that no suppression covers, printed or only counted. */
unsigned gmod_report_findings(void);

/*
 * Say in one line what was counted instead of printed, if anything was, and in another which suppressions were of no
 * use. Once.
 */
void gmod_report_end(void);

/* What the run amounts to so far. */
void gmod_report_counts(struct gmod_run_summary *s);

/* Print the closing line, whatever the verbosity. */
void gmod_report_summary(const struct gmod_run_summary *s);

#endif
