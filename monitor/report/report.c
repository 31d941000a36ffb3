#include "monitor/report/report.h"

#include <errno.h>
#include <sys/mman.h>

#include "lib/base/deadline.h"
#include "monitor/report/json.h"
#include "monitor/report/suppressions.h"
#include "monitor/report/text.h"

static void (*after_report)(void); /* set by gmod_report_init() */
static _Atomic unsigned findings[GMOD_CLASS_COUNT];

/* The working memory of one report; mapped, because a program's thread may have a small stack. */
struct workspace {
	struct gmod_report_view view;
	struct gmod_view_scratch scratch;
	char out[256 * 1024];
};

/* Without memory for more: the first line, and the last. */
static void report_briefly(const struct gmod_finding *f)
{
	char title[512], where[80] = "";
	struct gmod_text t;

	gmod_text_init(&t, title, sizeof(title));
	gmod_title(f, &t);
	gmod_log_note(0, "%s: %s (no memory to say more) [finding %u%s]", gmod_class_name(f->class), title, f->id,
		      gmod_provisional_words(f));
	gmod_text_init(&t, where, sizeof(where));
	if (f->buffer.base)
		gmod_text_fmt(&t, "device %d size %llu offset %+lld ", f->buffer.device,
			      (unsigned long long)f->buffer.size, (long long)gmod_summary_offset(f));
	if (f->status == GMOD_FINAL)
		gmod_log_line("SUMMARY: GMOD: %s %s-", gmod_class_name(f->class), where);
}

static enum gmod_fate report_with(struct workspace *w, const struct gmod_finding *f, struct gmod_site *site,
				  enum gmod_fate fate)
{
	bool first = fate == GMOD_NEW, by_frames, suppressed;
	struct gmod_text out;

	gmod_view_make(&w->view, f, &w->scratch);
	if (first) {
		suppressed = gmod_is_suppressed(&w->view, &by_frames);
		fate = gmod_limits_admit(site, suppressed, by_frames);
	}
	gmod_text_init(&out, w->out, sizeof(w->out));
	if (fate == GMOD_SHOWN)
		(gmod_log_json() ? gmod_report_json : gmod_report_text)(&w->view, &out);
	if (!first || gmod_limits_settle(f, fate, site))
		gmod_log_lines(out.at, out.len);
	return fate;
}

/* Report a finding whose id is NEW or SHOWN; returns what became of it. */
static enum gmod_fate report_fully(const struct gmod_finding *f, struct gmod_site *site, enum gmod_fate fate)
{
	struct workspace *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool first = fate == GMOD_NEW;

	if (w != MAP_FAILED) {
		fate = report_with(w, f, site, fate);
		munmap(w, sizeof(*w));
		return fate;
	}
	if (first)
		fate = gmod_limits_admit(site, false, false);
	if (fate == GMOD_SHOWN && (!first || gmod_limits_settle(f, fate, site)))
		report_briefly(f);
	return fate;
}

atomic_int gmod_reports_coming;

void gmod_report_await(void)
{
	uint64_t deadline = GMOD_SECONDS(2);

	while (atomic_load_explicit(&gmod_reports_coming, memory_order_acquire) > 0 &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
		;
}

static void report(const struct gmod_finding *f)
{
	struct gmod_site *site;
	enum gmod_fate fate;

	if (f->class >= GMOD_CLASS_COUNT || (fate = gmod_limits_enter(f, &site)) == GMOD_DONE)
		return;
	if (fate == GMOD_NEW || fate == GMOD_SHOWN)
		fate = report_fully(f, site, fate);
	if (f->status == GMOD_FINAL && fate != GMOD_SUPPRESSED)
		atomic_fetch_add_explicit(&findings[f->class], 1, memory_order_relaxed);
}

void gmod_report(const struct gmod_finding *f)
{
	int saved = errno;
	struct gmod_scope scope;

	gmod_scope_begin(&scope);
	gmod_report_pending_begin();
	report(f);
	gmod_report_pending_end();
	if (after_report)
		after_report();
	gmod_scope_end(&scope);
	errno = saved;
}

void gmod_report_init(const struct gmod_options *o, void (*after)(void))
{
	int saved = errno;
	struct gmod_scope scope;

	gmod_scope_begin(&scope);
	gmod_limits_init(o->max_reports);
	after_report = after;
	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		findings[i] = 0;
	gmod_suppressions_load(o->suppressions);
	gmod_scope_end(&scope);
	errno = saved;
}

unsigned gmod_report_findings(void)
{
	unsigned sum = 0;

	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		sum += atomic_load_explicit(&findings[i], memory_order_relaxed);
	return sum;
}

void gmod_report_counts(struct gmod_run_summary *s)
{
	gmod_counters_read(&s->count);
	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		s->findings[i] = atomic_load_explicit(&findings[i], memory_order_relaxed);
}

void gmod_report_summary(const struct gmod_run_summary *s)
{
	char line[1536];
	struct gmod_text out;

	gmod_text_init(&out, line, sizeof(line));
	(gmod_log_json() ? gmod_summary_json : gmod_summary_text)(s, &out);
	gmod_log_lines(out.at, out.len);
}
