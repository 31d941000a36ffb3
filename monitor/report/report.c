#include "monitor/report/report.h"

#include <errno.h>

#include "lib/base/counters.h"
#include "lib/base/deadline.h"
#include "lib/base/hash.h"
#include "lib/base/map.h"
#include "monitor/report/json.h"
#include "monitor/report/suppressions.h"
#include "monitor/report/text.h"

static void (*after_report)(void); /* set by gmod_report_init() */
static _Atomic unsigned findings[GMOD_CLASS_COUNT];

/* ---- which findings are printed, and which only counted: once an id, so many a site, so many altogether ---- */

#define SITES_MAX 4096 /* a power of two */
#define IDS_MAX (1u << 20)

/*
 * What became of a finding id:
 *
 *   NEW --provisional--> CLAIMED --judged--> SHOWN | COUNTED | SUPPRESSED --final--> DONE
 *    `----------------------`------------------------final--------------------------^
 *
 * The final report may come from another thread while the provisional one is still being made; it then overtakes it,
 * and the provisional one, which finds its claim gone, is not printed.
 */
enum fate { NEW, CLAIMED, SHOWN, COUNTED, SUPPRESSED, DONE };

/*
 * Where findings come from, by class and raw return addresses: cheap to find again, so that a flood costs no
 * symbols. key 0: free; an entry is never given back. reports counts up past the limit.
 */
struct site {
	_Atomic uint64_t key;
	_Atomic unsigned reports;
	_Atomic bool suppressed; /* by its frames, so every finding of it is */
};

/* By gmod_report_init(); apart from the rest, which is large and starts as zeros. */
static unsigned max_reports = 100;

/* Written by whoever reports. */
static struct {
	struct site site[SITES_MAX];
	_Atomic uint8_t fate[IDS_MAX]; /* by finding id; pages that no id needs are never touched */
	_Atomic unsigned shown;        /* reports admitted, may run past max_reports */
	_Atomic unsigned repeated, beyond;
	_Atomic unsigned told; /* of repeated + beyond, by gmod_report_end() */
} state;

static unsigned load(_Atomic unsigned *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static unsigned add_one(_Atomic unsigned *counter)
{
	return atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static struct site *site_of(const struct gmod_finding *f)
{
	const struct gmod_stack *stack = gmod_site_stack(f);
	uint32_t depth = stack->depth < GMOD_STACK_MAX ? stack->depth : GMOD_STACK_MAX;
	uint64_t key = gmod_hash_bytes(gmod_hash_bytes(GMOD_HASH_START, &f->class, sizeof(f->class)), stack->pc,
				       depth * sizeof(stack->pc[0])) |
		       1;

	for (uint64_t i = 0; depth > 0 && i < SITES_MAX; i++) {
		struct site *s = &state.site[((key >> 20) + i) % SITES_MAX];
		uint64_t found = 0;

		if (atomic_compare_exchange_strong_explicit(&s->key, &found, key, memory_order_relaxed,
							    memory_order_relaxed) ||
		    found == key)
			return s;
	}
	return NULL;
}

/* Of the finding's id: SHOWN, COUNTED or SUPPRESSED before, or NEW; DONE: it may not be looked at. */
static enum fate fate_of(const struct gmod_finding *f)
{
	uint8_t was = NEW;

	if (f->id == 0 || f->id >= IDS_MAX)
		return f->status == GMOD_FINAL ? NEW : DONE;
	if (f->status == GMOD_PROVISIONAL)
		return atomic_compare_exchange_strong_explicit(&state.fate[f->id], &was, CLAIMED, memory_order_relaxed,
							       memory_order_relaxed)
			   ? NEW
			   : DONE;
	was = atomic_exchange_explicit(&state.fate[f->id], DONE, memory_order_relaxed);
	return was == CLAIMED ? NEW : was;
}

/* What can be judged without symbols, else NEW. */
static enum fate judge(struct site *site)
{
	if (site && atomic_load_explicit(&site->suppressed, memory_order_relaxed))
		return SUPPRESSED;
	if (site && load(&site->reports) >= GMOD_REPORTS_PER_SITE)
		return COUNTED;
	return load(&state.shown) >= max_reports ? COUNTED : NEW;
}

/* Record a first judgement. False: a provisional report was overtaken by its final one. */
static bool settle(const struct gmod_finding *f, enum fate fate, struct site *site)
{
	uint8_t claimed = CLAIMED;

	if (f->status == GMOD_PROVISIONAL &&
	    !atomic_compare_exchange_strong_explicit(&state.fate[f->id], &claimed, (uint8_t)fate, memory_order_relaxed,
						     memory_order_relaxed))
		return false;
	if (fate == SUPPRESSED)
		gmod_count(&gmod_counters.suppressed, 1);
	else if (fate == COUNTED)
		add_one(site && load(&site->reports) >= GMOD_REPORTS_PER_SITE ? &state.repeated : &state.beyond);
	return true;
}

/*
 * What is to be done about a finding: NEW: make the report, and ask admit(). SHOWN: make the report, its provisional
 * one was shown. COUNTED, SUPPRESSED: judged already. DONE: nothing, not even count it.
 * Ids past the table are not remembered: no provisional reports, each final one is taken for the only one.
 * *site: its place among the sites; NULL: no stack, or the table is full, so there is no limit.
 */
static enum fate enter(const struct gmod_finding *f, struct site **site)
{
	enum fate fate = fate_of(f);

	*site = fate == NEW || fate == SHOWN ? site_of(f) : NULL;
	if (fate == NEW && (fate = judge(*site)) != NEW)
		settle(f, fate, *site);
	return fate;
}

/* What becomes of a NEW one. view: NULL where there is no memory for it, so that nothing is suppressed. */
static enum fate admit(struct site *site, const struct gmod_report_view *view)
{
	bool by_frames = false, suppressed = view && gmod_is_suppressed(view, &by_frames);

	if (site && by_frames)
		atomic_store_explicit(&site->suppressed, true, memory_order_relaxed);
	if (suppressed)
		return SUPPRESSED;
	if (site && add_one(&site->reports) >= GMOD_REPORTS_PER_SITE)
		return COUNTED;
	return add_one(&state.shown) < max_reports ? SHOWN : COUNTED;
}

/* ---- one report ---- */

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

static enum fate report_with(struct workspace *w, const struct gmod_finding *f, struct site *site, enum fate fate)
{
	bool first = fate == NEW;
	struct gmod_text out;

	gmod_view_make(&w->view, f, &w->scratch);
	if (first)
		fate = admit(site, &w->view);
	gmod_text_init(&out, w->out, sizeof(w->out));
	if (fate == SHOWN)
		(gmod_log_json() ? gmod_report_json : gmod_report_text)(&w->view, &out);
	if (!first || settle(f, fate, site))
		gmod_log_lines(out.at, out.len);
	return fate;
}

/* Report a finding whose id is NEW or SHOWN; returns what became of it. */
static enum fate report_fully(const struct gmod_finding *f, struct site *site, enum fate fate)
{
	struct workspace *w = gmod_map(sizeof(*w));
	bool first = fate == NEW;

	if (w) {
		fate = report_with(w, f, site, fate);
		munmap(w, sizeof(*w));
		return fate;
	}
	if (first)
		fate = admit(site, NULL);
	if (fate == SHOWN && (!first || settle(f, fate, site)))
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
	struct site *site;
	enum fate fate;

	if (f->class >= GMOD_CLASS_COUNT || (fate = enter(f, &site)) == DONE)
		return;
	if (fate == NEW || fate == SHOWN)
		fate = report_fully(f, site, fate);
	if (f->status == GMOD_FINAL && fate != SUPPRESSED)
		add_one(&findings[f->class]);
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
	max_reports = o->max_reports;
	state.shown = state.repeated = state.beyond = state.told = 0;
	gmod_counters.suppressed = 0;
	after_report = after;
	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		findings[i] = 0;
	gmod_suppressions_load(o->suppressions);
	gmod_scope_end(&scope);
	errno = saved;
}

void gmod_report_end(void)
{
	unsigned repeated = load(&state.repeated), beyond = load(&state.beyond), sum = repeated + beyond;
	unsigned told = atomic_exchange_explicit(&state.told, sum, memory_order_relaxed);

	if (sum > told)
		gmod_log_note(
		    0,
		    "%u finding%s counted and not shown: %u beyond max_reports=%u, %u of a site that had been "
		    "reported %d times",
		    sum, sum == 1 ? " was" : "s were", beyond, max_reports, repeated, GMOD_REPORTS_PER_SITE);
}

unsigned gmod_report_findings(void)
{
	unsigned sum = 0;

	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		sum += load(&findings[i]);
	return sum;
}

void gmod_report_counts(struct gmod_run_summary *s)
{
	gmod_counters_read(&s->count);
	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		s->findings[i] = load(&findings[i]);
}

void gmod_report_summary(const struct gmod_run_summary *s)
{
	char line[1536];
	struct gmod_text out;

	gmod_text_init(&out, line, sizeof(line));
	(gmod_log_json() ? gmod_summary_json : gmod_summary_text)(s, &out);
	gmod_log_lines(out.at, out.len);
}
