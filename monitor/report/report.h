/*
 * Findings become reports here: once each, in text or JSON, with floods counted instead of printed.
 *
 * Every function may be called from any thread, from inside a hook and from atexit handlers, and changes no errno;
 * none allocates (a report's working memory is mapped and unmapped), waits for the program or touches CUDA. Not for
 * signal handlers, and not for a forked child, whose state is its parent's.
 */
#ifndef GMOD_MONITOR_REPORT_REPORT_H
#define GMOD_MONITOR_REPORT_REPORT_H

#include <stdatomic.h>

#include "lib/base/log.h"
#include "lib/base/options.h"
#include "monitor/registry/finding.h"
#include "monitor/report/summary.h"

#define GMOD_REPORTS_PER_SITE 10

/*
 * Take max_reports, load the suppressions, naming each bad line once, and set the counts to zero; the ids and sites
 * seen stay known. Call it once, after gmod_log_open() and before others report. after: called when a report is out, by
 * the thread that gave it; NULL: nothing.
 */
void gmod_report_init(const struct gmod_options *o, void (*after)(void));

/*
 * Report a finding, unless it is suppressed, has been reported (a second FINAL of an id, a second PROVISIONAL), is
 * one too many of its site, or one too many altogether. The FINAL of a printed PROVISIONAL is always printed. With
 * halt_on_error=1 it does not return from a FINAL that no suppression covers.
 */
void gmod_report(const struct gmod_finding *f);

/*
 * A report is on its way from gmod_report_pending_begin() to gmod_report_pending_end(), both by one thread, which keeps
 * signals away in between: for findings that nothing but a thread's stack holds. gmod_report() is so by itself.
 * gmod_report_await() waits for all that have begun, 2 s at most.
 */
extern atomic_int gmod_reports_coming;
static inline void gmod_report_pending_begin(void)
{
	atomic_fetch_add_explicit(&gmod_reports_coming, 1, memory_order_relaxed);
}
static inline void gmod_report_pending_end(void)
{
	/* release: it is written before the count says so */
	atomic_fetch_sub_explicit(&gmod_reports_coming, 1, memory_order_release);
}
void gmod_report_await(void);

/* FINAL findings that no suppression covers, printed or only counted. */
unsigned gmod_report_findings(void);

/* Say in one line what was counted instead of printed since this was last said; nothing if nothing was. */
void gmod_report_end(void);

/* What the run amounts to so far. */
void gmod_report_counts(struct gmod_run_summary *s);

/* Print the closing line, whatever the verbosity. */
void gmod_report_summary(const struct gmod_run_summary *s);

#endif
