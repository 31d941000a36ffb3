#include "monitor/report/report.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/counters.h"
#include "lib/base/deadline.h"
#include "monitor/report/report_next.h"
#include "monitor/report/suppressions.h"

#define SITES_MAX 4096 /* a power of two */
#define IDS_MAX (1u << 20)

static const struct gmod_class_row classes[GMOD_CLASS_COUNT] = {
    [GMOD_HEAP_BUFFER_OVERFLOW] = {false, true, gmod_title_corruption, gmod_next_memcheck},
    [GMOD_HEAP_BUFFER_UNDERFLOW] = {false, true, gmod_title_corruption, gmod_next_memcheck},
    [GMOD_USE_AFTER_FREE] = {false, true, gmod_title_use_after_free, gmod_next_memcheck},
    [GMOD_DOUBLE_FREE] = {true, false, gmod_title_double_free, gmod_next_double_free},
    [GMOD_INVALID_FREE] = {true, false, gmod_title_invalid_free, gmod_next_invalid_free},
    [GMOD_API_OUT_OF_BOUNDS] = {true, false, gmod_title_out_of_bounds, gmod_next_out_of_bounds},
    [GMOD_LEAK] = {false, false, gmod_title_leak, gmod_next_leak},
    [GMOD_POST_MORTEM] = {true, true, gmod_title_post_mortem, gmod_next_memcheck},
};

/*
 * Where findings come from, by class and raw return addresses: cheap to find again, so that a flood costs no
 * symbols. key 0: free; an entry is never given back. reports counts up past the limit.
 */
struct site {
	_Atomic uint64_t key;
	_Atomic unsigned reports;
	_Atomic bool suppressed; /* by its frames, so every finding of it is */
};

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

/* By gmod_report_init(); apart from the rest, which is large and starts as zeros. */
static unsigned max_reports = 100;
static void (*after_report)(void);

/* Written by whoever reports. */
static struct {
	struct site site[SITES_MAX];
	_Atomic uint8_t fate[IDS_MAX]; /* by finding id; pages that no id needs are never touched */
	_Atomic unsigned shown;        /* reports admitted, may run past max_reports */
	_Atomic unsigned repeated, beyond;
	_Atomic unsigned findings[GMOD_CLASS_COUNT];
	_Atomic unsigned told; /* of repeated + beyond, by gmod_report_end() */
} state;

/* The working memory of one report; mapped, because a program's thread may have a small stack. */
struct workspace {
	struct gmod_report_view view;
	struct gmod_symbol_scratch symbols;
	struct gmod_frames one;
	char out[256 * 1024];
};

static unsigned load(_Atomic unsigned *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static unsigned add_one(_Atomic unsigned *counter)
{
	return atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- which findings are printed ---- */

/* The stack that tells one bug from another. */
static const struct gmod_stack *site_stack(const struct gmod_finding *f)
{
	return classes[f->class].by_call && f->called_at.depth > 0 ? &f->called_at : &f->buffer.allocated_at;
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
	for (const unsigned char *p = bytes; n > 0; n--)
		h = (h ^ *p++) * 0x100000001b3ull; /* FNV-1a */
	return h;
}

#define HASH_START 0xcbf29ce484222325ull

/* The entry of the finding's site, made if need be; NULL: no stack, or the table is full, so there is no limit. */
static struct site *find_site(const struct gmod_finding *f)
{
	const struct gmod_stack *stack = site_stack(f);
	uint32_t depth = stack->depth < GMOD_STACK_MAX ? stack->depth : GMOD_STACK_MAX;
	uint64_t key =
	    hash_bytes(hash_bytes(HASH_START, &f->class, sizeof(f->class)), stack->pc, depth * sizeof(stack->pc[0])) |
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

/*
 * May this finding be looked at? Sets *fate to what is known of its id: SHOWN, COUNTED, SUPPRESSED, or NEW. Ids past
 * the table are not remembered: no provisional reports, each final one is taken for the only one.
 */
static bool enter(const struct gmod_finding *f, enum fate *fate)
{
	uint8_t was = NEW;

	*fate = NEW;
	if (f->id == 0 || f->id >= IDS_MAX)
		return f->status == GMOD_FINAL;
	if (f->status == GMOD_PROVISIONAL)
		return atomic_compare_exchange_strong_explicit(&state.fate[f->id], &was, CLAIMED, memory_order_relaxed,
							       memory_order_relaxed);
	was = atomic_exchange_explicit(&state.fate[f->id], DONE, memory_order_relaxed);
	if (was != CLAIMED)
		*fate = was;
	return was != DONE;
}

/* What can be judged without symbols, else NEW. */
static enum fate judge_early(struct site *site)
{
	if (site && atomic_load_explicit(&site->suppressed, memory_order_relaxed))
		return SUPPRESSED;
	if (site && load(&site->reports) >= GMOD_REPORTS_PER_SITE)
		return COUNTED;
	return load(&state.shown) >= max_reports ? COUNTED : NEW;
}

static enum fate admit(struct site *site)
{
	if (site && add_one(&site->reports) >= GMOD_REPORTS_PER_SITE)
		return COUNTED;
	return add_one(&state.shown) < max_reports ? SHOWN : COUNTED;
}

static bool is_suppressed(const struct gmod_report_view *v, struct site *site)
{
	bool by_frames = false, suppressed = gmod_is_suppressed(v, &by_frames);

	if (site && by_frames)
		atomic_store_explicit(&site->suppressed, true, memory_order_relaxed);
	return suppressed;
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

/* ---- one report ---- */

/* The runtime that is linked into the program, and the driver's functions where they have a stub there. */
static bool is_cuda_symbol(const char *s)
{
	size_t prefix = strncmp(s, "cuda", 4) == 0 ? 4 : strncmp(s, "cu", 2) == 0 ? 2 : 0;

	return strncmp(s, "__cudart", 8) == 0 || strncmp(s, "libcudart_static_", 17) == 0 ||
	       (prefix > 0 && s[prefix] >= 'A' && s[prefix] <= 'Z');
}

static bool is_program_frame(const struct gmod_frame *f)
{
	static const char *const other[] = {"libcuda.so", "libcudart.so", "libgmod.so"};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (strncmp(f->module, other[i], strlen(other[i])) == 0)
			return false;
	return f->module[0] && !is_cuda_symbol(f->symbol);
}

/* "main app+0x8b01" for the innermost frame of the program itself, "-" if there is none. */
static void describe_site(const struct gmod_frames *frames, char *out, size_t cap)
{
	struct gmod_text t;

	gmod_text_init(&t, out, cap);
	for (uint32_t i = 0; i < frames->depth; i++) {
		if (!is_program_frame(&frames->frame[i]))
			continue;
		gmod_frame_text(&t, &frames->frame[i], " ");
		gmod_text_mark_cut(&t);
		return;
	}
	gmod_text_str(&t, "-");
}

static uint64_t hash_site(enum gmod_class class, const struct gmod_frames *frames)
{
	const char *name = gmod_class_name(class);
	uint64_t h = hash_bytes(HASH_START, name, strlen(name));

	for (uint32_t i = 0; i < frames->depth; i++) {
		const struct gmod_frame *f = &frames->frame[i];

		h = hash_bytes(h, f->module, strlen(f->module));
		if (f->module[0]) /* the address of generated code differs from run to run */
			h = hash_bytes(h, &f->offset, sizeof(f->offset));
	}
	return frames->depth > 0 ? h : 0;
}

/* The number behind "offset" in the SUMMARY line; finding.h says from where it counts. */
static int64_t summary_offset(const struct gmod_finding *f)
{
	uint64_t end = f->buffer.base + f->buffer.size;

	if (f->class != GMOD_API_OUT_OF_BOUNDS)
		return f->offset;
	if (f->address < f->buffer.base) /* the first byte outside, as for a corruption */
		return (int64_t)(f->address - f->buffer.base);
	return f->address > end ? (int64_t)(f->address - end) : 0;
}

static void describe_nearby(struct workspace *w, const struct gmod_finding *f)
{
	struct gmod_report_view *v = &w->view;

	v->nearby_count = f->nearby_count < GMOD_NEARBY_MAX ? f->nearby_count : GMOD_NEARBY_MAX;
	for (uint32_t i = 0; i < v->nearby_count; i++) {
		gmod_symbolize(&w->one, &f->nearby[i].allocated_at, &w->symbols);
		describe_site(&w->one, v->nearby_site[i], sizeof(v->nearby_site[i]));
	}
}

static void make_view(struct workspace *w, const struct gmod_finding *f)
{
	struct gmod_report_view *v = &w->view;
	const struct gmod_frames *site = site_stack(f) == &f->called_at ? &v->called : &v->allocated;
	struct gmod_text t;

	v->finding = f;
	v->class = &classes[f->class];
	v->now_ns = gmod_clock_ns(CLOCK_REALTIME);
	v->offset = summary_offset(f);
	gmod_symbolize(&v->allocated, &f->buffer.allocated_at, &w->symbols);
	gmod_symbolize(&v->freed, &f->buffer.freed_at, &w->symbols);
	gmod_symbolize(&v->called, &f->called_at, &w->symbols);
	v->site_hash = hash_site(f->class, site);
	describe_nearby(w, f);
	describe_site(site, v->site, sizeof(v->site));
	if (f->class == GMOD_POST_MORTEM) {
		gmod_text_init(&t, v->site, sizeof(v->site));
		gmod_text_escaped(&t, f->error_name ? f->error_name : "-", 100);
	}
	gmod_text_init(&t, v->title, sizeof(v->title));
	v->class->title(f, &t);
	gmod_text_init(&t, v->next_step, sizeof(v->next_step));
	v->class->next_step(v, &t);
	gmod_text_mark_cut(&t);
}

/* Without memory for more: the first line, and the last. */
static void report_briefly(const struct gmod_finding *f)
{
	char title[512], where[80] = "";
	struct gmod_text t;

	gmod_text_init(&t, title, sizeof(title));
	classes[f->class].title(f, &t);
	gmod_log_note(0, "%s: %s (no memory to say more) [finding %u%s]", gmod_class_name(f->class), title, f->id,
		      gmod_provisional_words(f));
	gmod_text_init(&t, where, sizeof(where));
	if (f->buffer.base)
		gmod_text_fmt(&t, "device %d size %llu offset %+lld ", f->buffer.device,
			      (unsigned long long)f->buffer.size, (long long)summary_offset(f));
	if (f->status == GMOD_FINAL)
		gmod_log_line("SUMMARY: GMOD: %s %s-", gmod_class_name(f->class), where);
}

static enum fate report_with(struct workspace *w, const struct gmod_finding *f, struct site *site, enum fate fate)
{
	bool first = fate == NEW;
	struct gmod_text out;

	make_view(w, f);
	if (first)
		fate = is_suppressed(&w->view, site) ? SUPPRESSED : admit(site);
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
	enum fate early = fate == NEW ? judge_early(site) : NEW;
	struct workspace *w;

	if (early != NEW) {
		settle(f, early, site);
		return early;
	}
	w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w != MAP_FAILED) {
		fate = report_with(w, f, site, fate);
		munmap(w, sizeof(*w));
		return fate;
	}
	if (fate == SHOWN || ((fate = admit(site)) == SHOWN && settle(f, fate, site)))
		report_briefly(f);
	return fate;
}

static atomic_int coming;

void gmod_report_pending_begin(void)
{
	atomic_fetch_add_explicit(&coming, 1, memory_order_relaxed);
}

void gmod_report_pending_end(void)
{
	/* release: it is written before the count says so */
	atomic_fetch_sub_explicit(&coming, 1, memory_order_release);
}

void gmod_report_await(void)
{
	uint64_t deadline = GMOD_SECONDS(2);

	while (atomic_load_explicit(&coming, memory_order_acquire) > 0 && gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
		;
}

static void report(const struct gmod_finding *f)
{
	enum fate fate;

	if (f->class >= GMOD_CLASS_COUNT || !enter(f, &fate))
		return;
	if (fate == NEW || fate == SHOWN)
		fate = report_fully(f, find_site(f), fate);
	if (f->status == GMOD_FINAL && fate != SUPPRESSED)
		add_one(&state.findings[f->class]);
}

void gmod_report(const struct gmod_finding *f)
{
	int saved = errno;
	struct gmod_scope hold;

	gmod_scope_begin(&hold);
	gmod_report_pending_begin();
	report(f);
	gmod_report_pending_end();
	if (after_report)
		after_report();
	gmod_scope_end(&hold);
	errno = saved;
}

/* ---- the run ---- */

void gmod_report_init(const struct gmod_options *o, void (*after)(void))
{
	int saved = errno;
	struct gmod_scope hold;

	gmod_scope_begin(&hold);
	max_reports = o->max_reports;
	after_report = after;
	state.shown = state.repeated = state.beyond = state.told = 0;
	gmod_counters.suppressed = 0;
	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		state.findings[i] = 0;
	gmod_suppressions_load(o->suppressions);
	gmod_scope_end(&hold);
	errno = saved;
}

unsigned gmod_report_findings(void)
{
	unsigned sum = 0;

	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		sum += load(&state.findings[i]);
	return sum;
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

void gmod_report_counts(struct gmod_run_summary *s)
{
	gmod_counters_read(&s->count);
	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		s->findings[i] = load(&state.findings[i]);
}

void gmod_report_summary(const struct gmod_run_summary *s)
{
	char line[1536];
	struct gmod_text out;

	gmod_text_init(&out, line, sizeof(line));
	(gmod_log_json() ? gmod_summary_json : gmod_summary_text)(s, &out);
	gmod_log_lines(out.at, out.len);
}
