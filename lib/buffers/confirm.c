#include "lib/buffers/confirm.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/lock.h"
#include "lib/base/map.h"
#include "lib/base/sampler.h"
#include "lib/buffers/look.h"
#include "monitor/launches/arguments.h"
#include "monitor/launches/beside.h"
#include "monitor/launches/names.h"
#include "monitor/launches/suspects.h"
#include "monitor/report/report.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"

enum { ACCUSED = 8, LAUNCHES = 1000 };
/* Stream time of a trial: two copies of some bytes (measured on an H100). With max_overhead it says how often. */
#define TRIAL_NS 25000

/* ---- who is accused of what: under the lock ---- */

static atomic_flag lock = ATOMIC_FLAG_INIT;

static struct {
	struct gmod_finding finding; /* as it was told, without its suspects */
	struct gmod_record *record;  /* its own; NULL: none of the site is known to live */
	uint64_t word;
	bool changed; /* its side has been reported */
	bool told;    /* one that was not alone has been told */
	bool closed;  /* one that was alone has been */
	unsigned count;
	struct accused {
		const char *name;
		uint64_t graph;
		unsigned left; /* of its launches */
		uint64_t due_ns;
	} accused[ACCUSED];
} job;

/* Monotonic: before then nobody is due. UINT64_MAX: there is no buffer, or nobody is accused. */
static _Atomic uint64_t due_ns = UINT64_MAX;

static void set_due(void)
{
	uint64_t first = UINT64_MAX;
	bool any = false;

	for (unsigned i = 0; i < job.count; i++) {
		any |= job.accused[i].left;
		if (job.record && job.accused[i].left && job.accused[i].due_ns < first)
			first = job.accused[i].due_ns;
	}
	atomic_store_explicit(&due_ns, first, memory_order_relaxed);
	atomic_store_explicit(&gmod_hot.confirm, any, memory_order_relaxed);
}

static uint64_t draw(void)
{
	static uint64_t draws;

	return gmod_random(gmod_hot.key[1], draws++);
}

/* All of them together keep to max_overhead. The likelier a suspect is, the sooner: of eight the first has a third. */
static uint64_t next_due_ns(const struct accused *a, uint64_t now)
{
	uint64_t rank = (uint64_t)(a - job.accused) + 1, sum = 0, apart;

	for (unsigned i = 1; i <= job.count; i++)
		sum += 1000 / i;
	apart = TRIAL_NS * rank * sum * GMOD_PERCENT_ONE / 10 / gmod_options()->max_overhead;
	return now + apart / 2 + draw() % (apart + 1);
}

static struct accused *find_accused(uint64_t function, bool is_graph, uint64_t now)
{
	const char *name = is_graph ? NULL : gmod_name_of(function, gmod_ticks());

	for (unsigned i = 0; i < job.count; i++) {
		struct accused *a = &job.accused[i];

		if (a->left && a->due_ns <= now && (is_graph ? a->graph == function : !a->graph && a->name == name))
			return a;
	}
	return NULL;
}

static bool is_same_site(const struct gmod_stack *a, const struct gmod_stack *b)
{
	return a->python == b->python && a->depth == b->depth && !memcmp(a->pc, b->pc, a->depth * sizeof(a->pc[0]));
}

/* word 0: it is gone. */
static void look_at(struct gmod_record *r, uint64_t word, bool changed)
{
	job.record = word ? r : NULL;
	job.word = word;
	job.changed = changed;
	set_due();
}

static void accuse(const struct gmod_finding *f, uint64_t now)
{
	job.finding = *f;
	job.finding.suspect = NULL;
	job.finding.suspect_count = job.finding.suspect_room = 0;
	job.told = job.closed = false;
	job.count = gmod_suspects_shown(f);
	for (unsigned i = 0; i < job.count; i++)
		job.accused[i] = (struct accused){f->suspect[i].name, f->suspect[i].graph, LAUNCHES,
						  next_due_ns(&job.accused[i], now)};
}

/* Where all streams share one way, a copy waits for kernels of other streams. */
static bool is_possible(void)
{
	return gmod_options()->confirm && gmod_options()->max_overhead &&
	       gmod_options()->backend == GMOD_OPTION_BACKEND_DEVICE && !getenv("CUDA_DEVICE_MAX_CONNECTIONS") &&
	       !getenv("CUDA_DEVICE_MAX_COPY_CONNECTIONS") && !gmod_is_under_a_tool();
}

/* One finding at a time. Later ones of its site renew it, until a launch has been caught. */
void gmod_confirm_told(const struct gmod_finding *f, struct gmod_record *r, uint64_t word)
{
	bool is_same;

	if (f->class != GMOD_HEAP_BUFFER_OVERFLOW || f->buffer.memory != GMOD_MEM_DEVICE ||
	    f->buffer.site_allocations || !is_possible() || !gmod_lock(&lock))
		return;
	is_same = job.finding.id && is_same_site(&f->buffer.allocated_at, &job.finding.buffer.allocated_at);
	for (unsigned i = 0; is_same && i < job.count; i++)
		job.accused[i].left = LAUNCHES;
	if (!is_same && !atomic_load_explicit(&gmod_hot.confirm, memory_order_relaxed))
		accuse(f, gmod_monotonic_ns());
	if (is_same || job.finding.id == f->id)
		look_at(r, word, true);
	gmod_unlock(&lock);
}

void gmod_confirm_met(struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);

	if (!d->context || !gmod_has_slack(&r->bounds) || !gmod_lock(&lock))
		return;
	if (job.count && is_same_site(&d->stack, &job.finding.buffer.allocated_at) &&
	    (!job.record || gmod_record_live(job.record) != job.word))
		look_at(r, gmod_record_live(r), false);
	gmod_unlock(&lock);
}

/* ---- trials ---- */

enum { TRIALS = 8, TRIALS_OF_STREAM = 4 };
/* Where in pinned memory: the canary to be written or the bytes before, and those behind. */
enum { BEFORE, BEHIND, PLACES };
_Static_assert(TRIALS *PLACES <= GMOD_LOOKS_CONFIRM, "room for all of them");

/* NONE ──begin──► BEGUN ──end──► OUT ──what came is judged──► NONE. BEGUN it is the launching thread's. */
enum { NONE, BEGUN, OUT };
static struct trial {
	atomic_int state;
	unsigned life; /* the context's */
	struct gmod_context *context;
	struct gmod_record *record;
	uint64_t word;
	uint64_t offset; /* of the finding */
	struct gmod_buffer_facts buffer;
	struct gmod_canary canary;
	struct gmod_range range;
	uint8_t *lands;
	struct gmod_order in;
	struct gmod_moment began;
	uint64_t to; /* ticks behind it */
	const struct gmod_thread *thread;
	uint64_t number; /* of the launch */
	struct gmod_suspect launch;
	uint64_t changed_ns;
	uint32_t finding; /* its id */
	bool changed;     /* the canary was written anew */
	bool beside;      /* something may have run beside it */
} trials[TRIALS];

/* Who calls the driver for a buffer pins it; one thread at a time. */
static atomic_flag asking = ATOMIC_FLAG_INIT;

static int state_of(const struct trial *t)
{
	return atomic_load_explicit(&t->state, memory_order_acquire);
}

static void set_state(struct trial *t, int state)
{
	/* release: what was filled in before is whoever's finds the state */
	atomic_store_explicit(&t->state, state, memory_order_release);
}

/* Under the lock. A stream has few: it holds some thousand launches, and who adds the next one waits. */
static struct trial *free_trial(uint64_t stream)
{
	struct trial *found = NULL;
	unsigned of_stream = 0;

	for (struct trial *t = trials; t < trials + TRIALS; t++) {
		if (state_of(t) == NONE)
			found = t;
		else
			of_stream += t->in.key == stream;
	}
	return of_stream < TRIALS_OF_STREAM ? found : NULL;
}

/* The bytes next to the buffer, or, where these were not changed, from the first changed one on. */
static struct gmod_range range_of(const struct gmod_bounds *b, uint64_t offset)
{
	uint64_t from = b->user + b->size, first = from + offset;

	if (first >= from + GMOD_LOOK_BYTES / 2 && first < b->tail_to)
		from = first;
	return (struct gmod_range){from, b->tail_to - from < GMOD_LOOK_BYTES ? b->tail_to : from + GMOD_LOOK_BYTES};
}

/* Under the lock: a trial of the accused, if one is due in that launch. */
static struct trial *begin(const struct gmod_order *in, uint64_t function, bool is_graph, uint64_t now)
{
	bool lives = job.record && gmod_record_live(job.record) == job.word;
	struct accused *a = lives ? find_accused(function, is_graph, now) : NULL;
	struct trial *t = NULL;

	if (!lives)
		job.record = NULL;
	/* Launches come in bursts: the first of one would always be taken, or the first that finds a place. */
	if (a && draw() % 2) {
		t = free_trial(in->key);
		a->due_ns = next_due_ns(a, now);
		a->left -= !!t;
	}
	set_due();
	if (!t)
		return NULL;
	/* Not the state with them: the monitor reads that at any time. */
	t->record = job.record;
	t->word = job.word;
	t->finding = job.finding.id;
	t->in = *in;
	t->changed = job.changed;
	t->changed_ns = 0;
	t->offset = (uint64_t)job.finding.offset;
	t->launch = (struct gmod_suspect){.name = a->name, .graph = a->graph};
	set_state(t, BEGUN);
	return t;
}

/* With the record pinned. */
static bool ask_before(struct trial *t)
{
	const struct gmod_details *d = gmod_record_details(t->record);
	uint8_t *looks;

	if (gmod_record_live(t->record) != t->word)
		return false;
	t->context = d->context;
	t->life = gmod_context_life(t->context);
	t->buffer = gmod_record_facts(t->record);
	t->canary = d->canary[GMOD_TAIL];
	t->range = range_of(&t->record->bounds, t->offset);
	looks = gmod_pinned(t->context, &t->context->looks);
	if (!looks ||
	    gmod_stream_owner(t->in.stream) != atomic_load_explicit(&t->context->handle, memory_order_relaxed))
		return false;
	t->lands = looks + (size_t)(GMOD_LOOKS + GMOD_LOOKS_LIVING + (t - trials) * PLACES) * GMOD_LOOK_BYTES;
	if (!t->changed)
		return gmod_look_ask(&t->canary, t->range, t->lands, t->in.stream);
	gmod_canary_bytes(&t->canary, t->range.from, t->range.to, t->lands);
	return NEXT(cuMemcpyHtoDAsync_v2)(t->range.from, t->lands, t->range.to - t->range.from, t->in.stream) ==
	       CUDA_SUCCESS;
}

static bool ask_behind(struct trial *t)
{
	return gmod_record_live(t->record) == t->word &&
	       gmod_look_ask(&t->canary, t->range, t->lands + GMOD_LOOK_BYTES, t->in.stream);
}

/* What another thread asks for just now goes first: the trial is none. */
static bool ask(struct trial *t, bool (*what)(struct trial *t))
{
	CUstreamCaptureMode mode;
	bool asked;

	if (atomic_flag_test_and_set_explicit(&asking, memory_order_acquire))
		return false;
	gmod_pin(GMOD_PIN_CONFIRM, t->record->position);
	mode = gmod_relaxed_begin();
	asked = what(t);
	gmod_relaxed_end(mode);
	gmod_unpin(GMOD_PIN_CONFIRM);
	atomic_flag_clear_explicit(&asking, memory_order_release);
	return asked;
}

unsigned gmod_confirm_begin(const struct gmod_order *in, uint64_t function, bool is_graph)
{
	uint64_t now = gmod_monotonic_ns();
	struct gmod_cancel cancel;
	struct trial *t = NULL;

	if (now < atomic_load_explicit(&due_ns, memory_order_relaxed) || in->stream == CU_STREAM_PER_THREAD ||
	    atomic_load_explicit(&gmod_hot.suspended, memory_order_relaxed))
		return 0;
	cancel = gmod_cancel_begin();
	if (gmod_lock(&lock)) {
		t = begin(in, function, is_graph, now);
		gmod_unlock(&lock);
	}
	if (t) {
		gmod_proof_remember();
		/* First: what is launched between the two is in one of them. */
		t->began = gmod_now();
		t->beside = gmod_others_outstanding(in->key);
		if (!ask(t, ask_before)) {
			set_state(t, NONE);
			t = NULL;
		}
	}
	gmod_cancel_end(cancel);
	return t ? (unsigned)(t - trials) + 1 : 0;
}

/* As a report tells a suspect. */
static void describe(struct gmod_suspect *s, const struct gmod_thread *t, uint64_t number, const struct gmod_order *in)
{
	const struct gmod_launch *l = &t->ring[number % GMOD_RING];

	s->launches = 1;
	s->stream = gmod_handle(in->stream);
	s->first_ns = s->launched_ns = gmod_clock_ns(CLOCK_REALTIME);
	s->python[0] = atomic_load_explicit(&l->python, memory_order_relaxed);
	for (int i = 0; i < 3; i++) {
		s->grid[i] = atomic_load_explicit(&l->grid[i], memory_order_relaxed);
		s->block[i] = atomic_load_explicit(&l->block[i], memory_order_relaxed);
	}
}

void gmod_confirm_end(unsigned trial, const struct gmod_thread *thread, bool accepted)
{
	struct trial *t = &trials[trial - 1];
	struct gmod_cancel cancel = gmod_cancel_begin();

	t->thread = thread;
	t->number = atomic_load_explicit(&thread->launches, memory_order_relaxed) - 1;
	describe(&t->launch, thread, t->number, &t->in);
	/*
	 * What another thread has launched meanwhile, in a stream that joins the legacy one, would go in front of the
	 * look, and who waits for the legacy stream would wait for it.
	 */
	if (t->in.stream == CU_STREAM_LEGACY)
		accepted = accepted && !gmod_others_launched(t->in.key, thread, t->began.ticks, gmod_ticks());
	accepted = accepted && ask(t, ask_behind);
	/* Now: of another thread only the latest launch into this stream is known, which may come behind the look. */
	t->beside |= gmod_others_launched(t->in.key, thread, t->began.ticks, UINT64_MAX);
	t->to = gmod_ticks();
	gmod_count(&gmod_counters.confirm_looks, accepted);
	set_state(t, accepted ? OUT : NONE);
	gmod_noted();
	gmod_cancel_end(cancel);
}

/* ---- what has come ---- */

static void describe_damage(struct gmod_finding *f, const struct trial *t, const struct gmod_diff *diff,
			    const uint8_t *bytes)
{
	uint64_t extent = diff->last - diff->first + 1;

	f->status = GMOD_CAUGHT;
	f->offset = (int64_t)(diff->first - f->buffer.base - f->buffer.size);
	f->changed = diff->changed;
	f->extent = extent;
	f->observed_count = extent < GMOD_OBSERVED_MAX ? (uint32_t)extent : GMOD_OBSERVED_MAX;
	memcpy(f->observed, bytes + (diff->first - t->range.from), f->observed_count);
	gmod_canary_bytes(&t->canary, diff->first, diff->first + f->observed_count, f->expected);
	f->intact_ns = t->began.ns;
	f->seen_ns = gmod_now().ns;
	f->restored = false;
	f->caught = t->number + 1;
}

/* The launch first, and behind it those that may have run beside it. */
static void add_suspects(struct gmod_finding *f, const struct trial *t)
{
	uint32_t own = 0;

	/* Up to now: a launch that was in its call behind the look is stamped later, and may be the first of its
	 * kernel. */
	if (t->beside)
		gmod_suspects_find(f, &(struct gmod_window){t->began.ticks, t->in.key, t->began.ticks, gmod_ticks()},
				   NULL);
	while (own < f->suspect_count &&
	       (f->suspect[own].name != t->launch.name || f->suspect[own].graph != t->launch.graph))
		own++;
	if (own == f->suspect_count && f->suspect_count < f->suspect_room)
		f->suspect_count++;
	memmove(&f->suspect[1], &f->suspect[0], own * sizeof(f->suspect[0]));
	f->suspect[0] = t->launch;
}

static void tell(struct trial *t, const struct gmod_diff *diff, const uint8_t *bytes)
{
	struct gmod_suspect *suspects = gmod_map(GMOD_SUSPECTS_MAX * sizeof(*suspects));
	struct gmod_target target = {.changed = diff->first};
	struct gmod_finding f;
	bool told;

	t->beside |= gmod_others_launched(t->in.key, t->thread, t->began.ticks, t->to);
	if (!suspects || !gmod_lock(&lock)) {
		gmod_degraded("memory for what was caught");
		return;
	}
	f = job.finding;
	f.buffer = t->buffer;
	f.suspects_omitted = f.launches_lost = f.unknown_before_ns = 0;
	told = job.finding.id == t->finding && !job.closed && !(t->beside && job.told);
	job.told |= told;
	if (told && !t->beside) {
		job.closed = true;
		job.count = 0;
		set_due();
	}
	gmod_unlock(&lock);
	target.base = f.buffer.base;
	target.size = f.buffer.size;
	f.suspect = suspects;
	f.suspect_room = GMOD_SUSPECTS_MAX - 1;
	describe_damage(&f, t, diff, bytes);
	t->launch.pointer = t->launch.graph ? gmod_points_unknown : gmod_arguments_find(t->thread, t->number, &target);
	add_suspects(&f, t);
	/* What ran beside it is not known: it would be named alone. */
	told = told && !(t->beside && f.suspect_count < 2);
	if (told)
		gmod_report_add(&f);
	gmod_count(&gmod_counters.caught, told);
	munmap(suspects, GMOD_SUSPECTS_MAX * sizeof(*suspects));
}

/* Was all as it should be in front of the launch? */
static bool was_intact(const struct trial *t)
{
	uint8_t bytes[GMOD_LOOK_BYTES];
	struct gmod_diff diff;

	return t->changed || gmod_look_answer(&t->canary, t->range, t->lands, bytes, &diff) == GMOD_LOOK_INTACT;
}

static void judge(struct trial *t)
{
	/* What its end has kept from coming never comes. */
	bool ended = gmod_context_life(t->context) != t->life;
	uint8_t bytes[GMOD_LOOK_BYTES];
	struct gmod_diff diff;
	enum gmod_look_answer answer = gmod_look_answer(&t->canary, t->range, t->lands + GMOD_LOOK_BYTES, bytes, &diff);

	if (!ended && gmod_look_is_coming(answer, &t->changed_ns))
		return;
	if (!ended && answer == GMOD_LOOK_CHANGED && was_intact(t))
		tell(t, &diff, bytes);
	set_state(t, NONE);
}

/* One thread at a time: the monitor, or who ends the process. */
static bool judge_all(void)
{
	static atomic_flag judging = ATOMIC_FLAG_INIT;
	bool out = false;

	if (!gmod_lock(&judging))
		return false;
	for (struct trial *t = trials; t < trials + TRIALS; t++) {
		if (state_of(t) == OUT)
			judge(t);
		out |= state_of(t) == OUT;
	}
	gmod_unlock(&judging);
	return out;
}

void gmod_confirm_tick(void)
{
	judge_all();
}

uint64_t gmod_confirm_leisure(void)
{
	for (const struct trial *t = trials; t < trials + TRIALS; t++)
		if (state_of(t) == OUT)
			return GMOD_MILLISECONDS(1);
	return UINT64_MAX;
}

void gmod_confirm_look(void)
{
	uint64_t deadline = GMOD_MILLISECONDS(50);

	while (judge_all() && gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 2))
		;
}
