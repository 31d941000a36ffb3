#include "monitor/report/report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/base/child.h"
#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/futex.h"
#include "lib/base/hash.h"
#include "lib/base/lock.h"
#include "lib/base/sampler.h"
#include "lib/base/worker.h"
#include "monitor/report/json.h"
#include "monitor/report/lines.h"
#include "monitor/report/suppressions.h"
#include "monitor/report/text.h"

/* By gmod_report_init(). */
static const struct gmod_options *options;
static void (*halt)(void);

static atomic_bool halting;

static _Atomic uint64_t findings[GMOD_CLASS_COUNT];

static void count(const struct gmod_finding *f)
{
	bool kernels = f->buffer.memory == GMOD_MEM_KERNEL;

	atomic_fetch_add_explicit(&findings[f->class], 1, memory_order_relaxed);
	if (kernels ? options->device_halt_on_error : options->halt_on_error)
		atomic_store_explicit(&halting, true, memory_order_relaxed);
}

/* ---- which findings are printed, and which only counted: once an id, so many a site, so many altogether ---- */

#define SITES_MAX 4096 /* a power of two */
#define IDS_MAX (1u << 20)

/*
 * What became of a finding id:
 *
 *   NEW --provisional--> SHOWN | COUNTED | SUPPRESSED --final--> TOLD, if it was shown, or DONE
 *    `---------------------------final---------------------------^
 *
 * What is CAUGHT is said of one that was TOLD.
 */
enum fate { NEW, SHOWN, COUNTED, SUPPRESSED, TOLD, DONE };

/*
 * Where findings come from, by class and raw return addresses: cheap to find again, so that a flood costs no
 * symbols. key 0: free; an entry is never given back.
 */
struct site {
	uint64_t key;
	unsigned reports;
	bool suppressed; /* by its frames, so every finding of it is */
};

/* Written by whoever tells. */
static struct {
	struct site site[SITES_MAX];
	uint8_t fate[IDS_MAX];             /* by finding id; pages that no id needs are never touched */
	unsigned shown;                    /* reports admitted */
	_Atomic uint64_t repeated, beyond; /* counted and not shown */
	_Atomic uint64_t unshown;          /* lost on the way: nobody has judged them */
} state;

static unsigned load(_Atomic uint64_t *counter)
{
	return (unsigned)atomic_load_explicit(counter, memory_order_relaxed);
}

static struct site *site_of(const struct gmod_finding *f)
{
	const struct gmod_stack *stack = gmod_site_stack(f);
	uint32_t depth = stack->depth < GMOD_STACK_MAX ? stack->depth : GMOD_STACK_MAX;
	uint64_t key = gmod_hash_bytes(GMOD_HASH_START, &f->class, sizeof(f->class));

	/* All of a Python program's calls come by the same return addresses. */
	key = gmod_hash_bytes(key, &stack->python, sizeof(stack->python));
	key = gmod_hash_bytes(key, stack->pc, depth * sizeof(stack->pc[0])) | 1;

	for (uint64_t i = 0; depth > 0 && i < SITES_MAX; i++) {
		struct site *s = &state.site[((key >> 20) + i) % SITES_MAX];

		if (!s->key)
			s->key = key;
		if (s->key == key)
			return s;
	}
	return NULL;
}

/* Of the finding's id: SHOWN, COUNTED or SUPPRESSED before, or NEW; DONE: nothing is to be done about it. */
static enum fate fate_of(const struct gmod_finding *f)
{
	enum fate was;

	/* Ids past the table are not remembered: each final report is taken for the only one. */
	if (f->id == 0 || f->id >= IDS_MAX)
		return f->status == GMOD_FINAL ? NEW : DONE;
	was = (enum fate)state.fate[f->id];
	if (f->status == GMOD_PROVISIONAL)
		return was == NEW ? NEW : DONE;
	if (f->status == GMOD_CAUGHT)
		return was == TOLD ? SHOWN : DONE;
	state.fate[f->id] = DONE;
	return was;
}

/* What can be judged without symbols, else NEW. */
static enum fate judge(const struct site *site)
{
	if (site && site->suppressed)
		return SUPPRESSED;
	if (site && site->reports >= GMOD_REPORTS_PER_SITE)
		return COUNTED;
	return state.shown >= options->max_reports ? COUNTED : NEW;
}

/* What becomes of one that is NEW still: only its symbols can keep it back. */
static enum fate admit(struct site *site, const struct gmod_report_view *view)
{
	bool by_site = false, suppressed = gmod_is_suppressed(view, &by_site);

	if (site) {
		site->suppressed = by_site;
		site->reports += !suppressed;
	}
	state.shown += !suppressed;
	return suppressed ? SUPPRESSED : SHOWN;
}

/* Record a first judgement. */
static void settle(const struct gmod_finding *f, enum fate fate, const struct site *site)
{
	if (f->status == GMOD_PROVISIONAL)
		state.fate[f->id] = (uint8_t)fate;
	if (fate == SUPPRESSED)
		gmod_count(&gmod_counters.suppressed, 1);
	else if (fate == COUNTED)
		gmod_count(site && site->reports >= GMOD_REPORTS_PER_SITE ? &state.repeated : &state.beyond, 1);
}

/* ---- findings on their way ---- */

enum { ON_THEIR_WAY = 256 };

/*
 * A ring. Who detects something copies it in, under `adding` and whatever locks and pins it holds; one thread at a
 * time, which has `telling`, takes them out in order. The release that moves an index says that the finding is there,
 * or that its place is free.
 */
static struct {
	struct gmod_finding finding[ON_THEIR_WAY];
	struct gmod_suspect suspect[ON_THEIR_WAY][GMOD_SUSPECTS_MAX]; /* theirs */
	atomic_flag adding, telling;
	atomic_uint added, told; /* the first a futex */
	atomic_bool thread;      /* there is one, or one is expected */
	bool waits;              /* who has `telling` is that thread */
	atomic_bool abandoned;
	/* To be called behind all of them. Release and acquire: it sees what its caller did, and its caller what it
	 * did. */
	_Atomic(void (*)(void)) last;
} way = {.adding = ATOMIC_FLAG_INIT, .telling = ATOMIC_FLAG_INIT};

atomic_int gmod_reports_coming;

static unsigned told(void)
{
	return atomic_load_explicit(&way.told, memory_order_acquire);
}

static unsigned added(void)
{
	return atomic_load_explicit(&way.added, memory_order_acquire);
}

static bool is_abandoned(void)
{
	return atomic_load_explicit(&way.abandoned, memory_order_relaxed);
}

static bool has_thread(void)
{
	return atomic_load_explicit(&way.thread, memory_order_relaxed);
}

/* Then a report is waited for, but not for ever. */
static bool may_halt(void)
{
	return options->halt_on_error || options->device_halt_on_error;
}

/* ---- one report ---- */

/* A log that takes nothing is waited for by the thread that nobody waits for, or but halting. */
static void hand_over(const struct gmod_text *t)
{
	uint64_t deadline = may_halt() ? GMOD_SECONDS(1) : UINT64_MAX;

	do {
		if (gmod_log_try(t->at, t->len))
			return;
	} while (way.waits && !is_abandoned() && gmod_nap(&deadline, GMOD_MILLISECONDS(20)));
	gmod_log_lines(t->at, t->len);
}

static char text[10 << 20]; /* more than the longest names take, each byte of them escaped */

static void write_report(const struct gmod_report_view *view)
{
	struct gmod_text out;

	gmod_text_init(&out, text, sizeof(text));
	(gmod_log_json() ? gmod_report_json : gmod_report_text)(view, &out);
	hand_over(&out);
}

/*
 * Lines are waited for by the thread that nobody waits for, unless a signal ends the process, or so many findings are
 * on their way that who reports could find no place. And for 4 s in all, because the end of the process waits for
 * reports. After 300 ms the report is in the log as a provisional one, so that it is not lost if the process is killed;
 * in_log: it is anyway.
 */
static void find_lines(struct gmod_report_view *view, struct gmod_finding *f, bool in_log)
{
	static uint64_t patience = GMOD_SECONDS(4);
	uint64_t before = patience;
	bool asked = way.waits && patience && gmod_lines_ask(view);

	while (asked && !gmod_lines_end() && added() - told() < ON_THEIR_WAY / 2 &&
	       !atomic_load_explicit(&way.last, memory_order_relaxed) && gmod_nap(&patience, GMOD_MILLISECONDS(1)))
		if (!in_log && before - patience > GMOD_MILLISECONDS(300)) {
			f->status = GMOD_PROVISIONAL;
			write_report(view);
			f->status = GMOD_FINAL;
			in_log = true;
		}
}

/* ---- the user's command ---- */

static struct gmod_child command;

/* Of the first one, with the last line that it printed: behind a traceback, and behind how far a transfer has come. */
static void say_failed_command(void)
{
	static atomic_bool said;
	char how[64] = "was killed, as one that takes 3 s is", *line;
	int status = command.status;

	if (!status || !gmod_child_ended(&command) || !gmod_first_time(&said))
		return;
	if (status < 0)
		strcpy(how, "could not be started");
	else if (WIFEXITED(status))
		snprintf(how, sizeof(how), "ended with status %d", WEXITSTATUS(status));
	for (size_t n = strlen(command.output); n && command.output[n - 1] == '\n'; n--)
		command.output[n - 1] = '\0';
	line = strrchr(command.output, '\n');
	line = line ? line + 1 : command.output;
	gmod_log_note(0, "the command of on_finding %s%s%s", how, *line ? ": " : "", line);
}

static void run_command(const struct gmod_report_view *view)
{
	static char finding[sizeof(text)], script[GMOD_OPTION_STRING_MAX + 16];
	static uint64_t latest;
	uint64_t now = gmod_monotonic_ns();
	struct gmod_text t;

	if (!way.waits || !gmod_child_ended(&command) || now - latest < GMOD_SECONDS(1))
		return;
	say_failed_command();
	latest = now;
	snprintf(script, sizeof(script), "exec 2>&1\n%s", options->on_finding);
	gmod_text_init(&t, finding, sizeof(finding));
	gmod_report_json(view, &t);
	finding[strcspn(finding, "\n") + 1] = '\0'; /* more suspects have lines of their own */
	gmod_child_start(&command, script, finding, GMOD_SECONDS(3), &gmod_counters.commands_failed);
}

/* It counts before it is written: that may take long. */
static void tell(struct gmod_finding *f)
{
	/* Too large for the stack of a program's thread, and there when memory is not. */
	static struct gmod_report_view view;
	static struct gmod_view_scratch scratch;
	enum fate before = fate_of(f), fate = before;
	struct site *site = before == NEW ? site_of(f) : NULL;

	if (before == NEW)
		fate = judge(site);
	if (fate == NEW || fate == SHOWN)
		gmod_view_make(&view, f, &scratch);
	if (fate == NEW)
		fate = admit(site, &view);
	if (before == NEW)
		settle(f, fate, site);
	if (f->status == GMOD_FINAL && (fate == SHOWN || fate == COUNTED))
		count(f);
	if (f->status == GMOD_FINAL && fate == SHOWN && f->id < IDS_MAX)
		state.fate[f->id] = TOLD;
	if (fate != SHOWN)
		return;
	if (options->symbolize && !gmod_log_json() && f->status == GMOD_FINAL)
		find_lines(&view, f, before == SHOWN);
	write_report(&view);
	if (*options->on_finding && f->status == GMOD_FINAL)
		run_command(&view);
}

/* ---- telling ---- */

/*
 * fence: behind `telling` given back, or behind what has just been added. Else one thread could find `telling` taken
 * and the other nothing there any more, and both leave.
 */
static bool is_something_there(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	return told() != added() && !is_abandoned();
}

static void tell_all(void)
{
	while (is_something_there()) {
		tell(&way.finding[told() % ON_THEIR_WAY]);
		atomic_store_explicit(&way.told, told() + 1, memory_order_release);
		if (atomic_load_explicit(&halting, memory_order_relaxed))
			halt();
	}
}

/* Without a thread for it: who comes while another one tells leaves it to that one. */
static void tell_here(void)
{
	while (is_something_there() && !atomic_flag_test_and_set_explicit(&way.telling, memory_order_acquire)) {
		tell_all();
		atomic_flag_clear_explicit(&way.telling, memory_order_release);
	}
}

static void run(void)
{
	struct gmod_run_summary s;
	void (*last)(void);
	uint64_t pause;

	/* Whoever tells one just now without it comes to an end. */
	while (!gmod_lock(&way.telling))
		;
	way.waits = true;
	/* fence: whoever did not see that it was expected has added what is found here; see copy_in() */
	atomic_thread_fence(memory_order_seq_cst);
	for (;;) {
		unsigned seen = added();

		tell_all();
		if ((last = atomic_load_explicit(&way.last, memory_order_acquire))) {
			last();
			/* A signal's may have come meanwhile, which is called next. */
			atomic_compare_exchange_strong_explicit(&way.last, &last, NULL, memory_order_release,
								memory_order_relaxed);
		}
		gmod_report_counts(&s);
		pause = gmod_stats_write(&s, false);
		/* Who has ended stays in lists of processes until it is asked after. */
		if ((!gmod_child_ended(&command) || gmod_lines_linger()) && pause > GMOD_SECONDS(1))
			pause = GMOD_SECONDS(1);
		gmod_futex_wait((atomic_int *)&way.added, (int)seen, pause);
	}
}

void gmod_report_expect(bool thread)
{
	atomic_store_explicit(&way.thread, thread, memory_order_relaxed);
	if (!thread)
		tell_here();
}

void gmod_report_start(void)
{
	static const struct gmod_worker worker = {"gmod-report", run};

	if (gmod_worker_start(&worker))
		gmod_report_expect(false);
}

/* Wait until those before `upto` are told. A log that takes nothing for 2 s holds nobody up a second time. */
static bool await_told(unsigned upto)
{
	static _Atomic uint64_t gave_up_at = UINT_MAX;
	uint64_t deadline = GMOD_SECONDS(2);
	unsigned seen = told();

	while ((int)(told() - upto) < 0) {
		if (told() != seen)
			deadline = GMOD_SECONDS(2);
		seen = told();
		if (load(&gave_up_at) == seen || !gmod_nap(&deadline, GMOD_MILLISECONDS(1))) {
			atomic_store_explicit(&gave_up_at, seen, memory_order_relaxed);
			return false;
		}
	}
	return true;
}

void gmod_report_say(void (*last)(void), uint64_t deadline)
{
	atomic_store_explicit(&way.last, last, memory_order_release);
	/* Woken over and over: it may have been about to sleep. */
	do
		gmod_futex_wake((atomic_int *)&way.added);
	while (has_thread() && atomic_load_explicit(&way.last, memory_order_acquire) &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1)));
}

/* Nobody has judged it, so it counts. */
static void lose(const struct gmod_finding *f)
{
	gmod_count(&state.unshown, 1);
	if (f->status == GMOD_FINAL)
		count(f);
}

static bool copy_in(const struct gmod_finding *f)
{
	struct gmod_finding *to;
	unsigned place;
	bool room;

	if (!gmod_lock(&way.adding))
		return false;
	place = added() % ON_THEIR_WAY;
	to = &way.finding[place];
	room = await_told(added() - ON_THEIR_WAY + 1);
	if (room) {
		*to = *f;
		if (to->suspect_count > GMOD_SUSPECTS_MAX)
			to->suspect_count = GMOD_SUSPECTS_MAX;
		to->suspect = way.suspect[place];
		if (to->suspect_count)
			memcpy(to->suspect, f->suspect, to->suspect_count * sizeof(*f->suspect));
		atomic_store_explicit(&way.added, added() + 1, memory_order_release);
		/* fence: whoever sees no thread behind it is seen by that */
		atomic_thread_fence(memory_order_seq_cst);
	}
	gmod_unlock(&way.adding);
	return room;
}

void gmod_report_add(const struct gmod_finding *f)
{
	int saved = errno;
	struct gmod_scope scope;

	if (f->class >= GMOD_CLASS_COUNT)
		return;
	gmod_scope_begin(&scope);
	if (!copy_in(f))
		lose(f);
	else if (has_thread())
		gmod_futex_wake((atomic_int *)&way.added);
	gmod_scope_end(&scope);
	errno = saved;
}

bool gmod_report_await(void)
{
	uint64_t deadline = GMOD_SECONDS(2);

	while (atomic_load_explicit(&gmod_reports_coming, memory_order_acquire) > 0 &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
		;
	return await_told(added());
}

/* What is told just now has been counted. */
void gmod_report_abandon(void)
{
	atomic_store_explicit(&way.abandoned, true, memory_order_relaxed);
	if (told() != added())
		gmod_count(&state.unshown, 1);
	for (unsigned i = told() + 1; (int)(added() - i) > 0; i++)
		lose(&way.finding[i % ON_THEIR_WAY]);
}

void gmod_report_flush(void)
{
	int saved = errno;
	struct gmod_scope scope;

	gmod_scope_begin(&scope);
	if (!has_thread())
		tell_here();
	else if (may_halt())
		await_told(added());
	gmod_scope_end(&scope);
	errno = saved;
}

void gmod_report(const struct gmod_finding *f)
{
	gmod_report_add(f);
	gmod_report_flush();
}

void gmod_report_init(void (*halt_process)(void))
{
	int saved = errno;
	struct gmod_scope scope;

	gmod_scope_begin(&scope);
	options = gmod_options();
	halt = halt_process;
	state.shown = 0;
	state.repeated = state.beyond = state.unshown = 0;
	gmod_counters.suppressed = 0;
	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		findings[i] = 0;
	gmod_suppressions_load(options->suppressions);
	gmod_stats_open(options->stats_path);
	gmod_summary_begin();
	if (options->symbolize || *options->on_finding)
		gmod_child_prepare();
	gmod_scope_end(&scope);
	errno = saved;
}

void gmod_report_await_command(void)
{
	uint64_t deadline = GMOD_SECONDS(4);

	/* It is killed before that. Who is ended by a signal has no time. */
	while (!gmod_child_ended(&command) && !atomic_load_explicit(&way.last, memory_order_relaxed) &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
		;
}

void gmod_report_end(void)
{
	unsigned repeated = load(&state.repeated), beyond = load(&state.beyond), sum = repeated + beyond;
	unsigned unshown = load(&state.unshown);

	gmod_report_await_command();
	say_failed_command();
	if (unshown)
		gmod_log_note(0, "%u finding%s lost: the log took nothing for seconds", unshown,
			      unshown == 1 ? " was" : "s were");
	gmod_suppressions_say_unused();
	if (sum)
		gmod_log_note(
		    0,
		    "%u finding%s counted and not shown: %u beyond max_reports=%u, %u of a site that had been "
		    "reported %d times",
		    sum, sum == 1 ? " was" : "s were", beyond, options->max_reports, repeated, GMOD_REPORTS_PER_SITE);
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
	struct gmod_sample_totals totals;

	gmod_counters_read(&s->count);
	gmod_sample_totals(&totals);
	/* Of a program whose sites have ranges only (gmod_guard()) it says nothing. */
	s->count.ordered_sites = s->count.ordered_all ? totals.sites_guarded : 0;
	s->count.ordered_all_sites = s->count.ordered_all ? totals.sites : 0;
	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		s->findings[i] = load(&findings[i]);
}

void gmod_report_summary(const struct gmod_run_summary *s)
{
	char line[3072];
	struct gmod_text out;

	gmod_text_init(&out, line, sizeof(line));
	(gmod_log_json() ? gmod_summary_json : gmod_summary_text)(s, &out);
	gmod_log_lines(out.at, out.len);
}
