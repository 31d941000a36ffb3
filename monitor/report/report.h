/*
 * Findings become reports here: once each, in text or JSON, with floods counted instead of printed.
 *
 * Every function may be called from any thread, from inside a hook and from atexit handlers, and changes no errno;
 * none allocates (a report's working memory is mapped and unmapped), waits for the program or touches CUDA. Not for
 * signal handlers, and not for a forked child, whose state is its parent's.
 */
#ifndef GMOD_MONITOR_REPORT_H
#define GMOD_MONITOR_REPORT_H

#include "lib/base/log.h"
#include "lib/base/options.h"
#include "monitor/registry/finding.h"
#include "monitor/report/summary.h"
#include "monitor/report/symbol.h"

#define GMOD_REPORTS_PER_SITE 10
#define GMOD_NEARBY_MAX 8 /* buffers listed in a post-mortem */

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
void gmod_report_pending_begin(void);
void gmod_report_pending_end(void);
void gmod_report_await(void);

/* FINAL findings that no suppression covers, printed or only counted. */
unsigned gmod_report_findings(void);

/* Say in one line what was counted instead of printed since this was last said; nothing if nothing was. */
void gmod_report_end(void);

/* What the run amounts to so far. */
void gmod_report_counts(struct gmod_run_summary *s);

/* Print the closing line, whatever the verbosity. */
void gmod_report_summary(const struct gmod_run_summary *s);

/* ---- for the files that make a report ---- */

struct gmod_report_view;

/* One class of findings. */
struct gmod_class_row {
	bool by_call;   /* its site is the call that was made, not the buffer's allocation */
	bool by_kernel; /* kernels are suspected */
	void (*title)(const struct gmod_finding *f, struct gmod_text *t);
	void (*next_step)(const struct gmod_report_view *v, struct gmod_text *t);
};

/*
 * All that a report says, in the order of computing it; the same for both formats. Strings are printable already
 * (escaped), unless they are the finding's own.
 */
struct gmod_report_view {
	const struct gmod_finding *finding;
	const struct gmod_class_row *class;
	uint64_t now_ns;
	uint64_t site_hash; /* over class, modules and offsets, so that it is the same in every run; 0: no stack */
	int64_t offset;     /* as in the SUMMARY line */
	struct gmod_frames allocated, freed, called;
	char title[512];
	char site[512];
	char next_step[3072];
	uint32_t nearby_count;
	char nearby_site[GMOD_NEARBY_MAX][512];
};

void gmod_frame_text(struct gmod_text *t, const struct gmod_frame *f, const char *between);

void gmod_title_corruption(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_use_after_free(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_double_free(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_invalid_free(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_out_of_bounds(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_leak(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_post_mortem(const struct gmod_finding *f, struct gmod_text *t);

/* Append the whole report, each line ended. */
void gmod_report_text(const struct gmod_report_view *v, struct gmod_text *out);
void gmod_report_json(const struct gmod_report_view *v, struct gmod_text *out);

/* What follows "[finding N" in a first line. */
const char *gmod_provisional_words(const struct gmod_finding *f);

/* "cuMemsetD8_v2" and the like, never NULL. */
const char *gmod_entry_point(const struct gmod_finding *f);

#endif
