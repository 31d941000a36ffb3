/* What the looks at stream-ordered buffers have found: the monitor's part of lib/buffers/ordered.h. */
#include "lib/base/facts.h"
#include "lib/base/lock.h"
#include "lib/buffers/ordered.h"
#include "lib/buffers/ordered_block.h"
#include "monitor/launches/proof.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/swept.h"

static void sight(struct gmod_block *b, const struct gmod_diff *diff, const uint8_t *bytes)
{
	struct gmod_range redzone = gmod_block_redzone(b);
	uint64_t count = redzone.to - diff->first;
	struct gmod_sighting s = {
	    .record = b->record,
	    .details = gmod_record_details(b->record),
	    .word = atomic_load_explicit(&b->record->word, memory_order_relaxed),
	    .side = GMOD_TAIL,
	    .diff = *diff,
	    .observed = bytes + (diff->first - redzone.from),
	    .observed_count = count < GMOD_OBSERVED_MAX ? (uint32_t)count : GMOD_OBSERVED_MAX,
	    .intact = b->intact,
	    .seen = gmod_now(),
	    .last = true,
	    .stream = b->looked_in,
	    .from = b->looked_from,
	    .to = b->looked_to,
	};

	gmod_damage_sighting(&s);
}

/* at_once: nothing is on its way any more. */
static void judge_freed(struct gmod_block *b, bool at_once)
{
	uint8_t bytes[GMOD_LOOK_BYTES];
	struct gmod_diff diff;
	enum gmod_look_answer answer =
	    gmod_look_answer(gmod_block_canary(b), gmod_block_redzone(b), b->lands, bytes, &diff);

	if (!at_once && gmod_look_is_coming(answer, &b->changed_ns))
		return;
	if (answer == GMOD_LOOK_CHANGED)
		sight(b, &diff, bytes);
	atomic_fetch_sub_explicit(&gmod_blocks_awaited, 1, memory_order_relaxed);
	gmod_block_retire(b);
}

/* One thread at a time. */
static atomic_flag judging = ATOMIC_FLAG_INIT;

/* c: those of a context that has ended; NULL: of all. */
static void judge_all(const struct gmod_context *c)
{
	uint32_t count = atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed);

	for (uint32_t i = 0; atomic_load_explicit(&gmod_blocks_awaited, memory_order_relaxed) && i < count; i++)
		if (gmod_block_state(&gmod_blocks[i]) == GMOD_LOOKED_AT && (!c || gmod_blocks[i].context == c))
			judge_freed(&gmod_blocks[i], c || !gmod_block_context(&gmod_blocks[i]));
}

/* ---- those that the program has freed while their fill was to come ---- */

/* The caller's own from here on, unless it is another's. */
static bool take_left(struct gmod_block *b)
{
	struct gmod_record *r = b->record;
	int left = GMOD_LEFT;

	if (!atomic_compare_exchange_strong_explicit(&b->state, &left, GMOD_BARE, memory_order_acquire,
						     memory_order_relaxed))
		return false;
	atomic_fetch_sub_explicit(&gmod_blocks_left, 1, memory_order_relaxed);
	gmod_index_remove(r->bounds.head_from, r->bounds.tail_to, r->position);
	return true;
}

/* The pages may be another buffer's inside the call. */
static void free_left(struct gmod_block *b)
{
	CUdeviceptr at = b->record->bounds.user;
	CUstreamCaptureMode mode;

	if (!gmod_context_enter(b->context))
		return;
	mode = gmod_relaxed_begin();
	if (gmod_block_is_filled(b) && take_left(b)) {
		if (NEXT(cuMemFree_v2)(at) != CUDA_SUCCESS)
			gmod_degraded("cuMemFree of memory of a pool");
		gmod_block_retire(b);
	}
	gmod_relaxed_end(mode);
	gmod_context_leave(b->context);
}

static void free_those_left(void)
{
	uint32_t count = atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed);

	for (uint32_t i = 0; atomic_load_explicit(&gmod_blocks_left, memory_order_relaxed) && i < count && gmod_on();
	     i++)
		if (gmod_block_state(&gmod_blocks[i]) == GMOD_LEFT && gmod_block_context(&gmod_blocks[i]))
			free_left(&gmod_blocks[i]);
}

/* ---- those that live ---- */

/*
 * Looks on their way. A copy takes as long as the device likes, so nobody waits for it: when the answer is there the
 * buffer may be gone, and its block be another's.
 */
static struct living {
	struct gmod_block *block; /* NULL: none is on its way */
	struct gmod_record *record;
	uint64_t word;
	struct gmod_context *context;
	unsigned life; /* the context's */
	struct gmod_canary canary;
	struct gmod_range redzone;
	uint8_t *lands;
	struct gmod_moment began;
	uint64_t asked_ns;   /* monotonic */
	uint64_t changed_ns; /* as a block's */
} living[GMOD_LOOKS_LIVING];
static atomic_uint on_their_way;

static bool has_ended(const struct living *l)
{
	return gmod_context_life(l->context) != l->life;
}

static void forget(struct living *l)
{
	atomic_fetch_sub_explicit(&l->block->looks, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&on_their_way, 1, memory_order_relaxed);
	l->block = NULL;
}

/* Of r while it is LIVE and its record; 0: it is not. A block is another's before its record can be. */
static uint64_t word_of(const struct gmod_block *b, const struct gmod_record *r)
{
	uint64_t word = gmod_record_live(r);

	return gmod_block_is_held(b) && b->record == r ? word : 0;
}

/* It has come to lie there whole. */
static void judge_living(const struct living *l, const struct gmod_diff *diff, const uint8_t *bytes)
{
	struct gmod_block *b = l->block;

	gmod_pin(GMOD_PIN_ORDERED, l->record->position);
	if (gmod_record_live(l->record) == l->word) {
		b->looked_in = b->stream;
		b->looked_from = b->armed;
		b->looked_to = UINT64_MAX;
		if (diff)
			sight(b, diff, bytes);
		b->intact = l->began;
	}
	gmod_unpin(GMOD_PIN_ORDERED);
}

static void take_answer(struct living *l)
{
	uint8_t bytes[GMOD_LOOK_BYTES];
	struct gmod_diff diff;
	enum gmod_look_answer answer = gmod_look_answer(&l->canary, l->redzone, l->lands, bytes, &diff);

	if (!has_ended(l)) {
		if (gmod_look_is_coming(answer, &l->changed_ns))
			return;
		judge_living(l, answer == GMOD_LOOK_CHANGED ? &diff : NULL, bytes);
	}
	forget(l);
}

/* Are some on their way after that? */
static bool take_answers(void)
{
	for (struct living *l = living; l < living + GMOD_LOOKS_LIVING; l++)
		if (l->block)
			take_answer(l);
	return atomic_load_explicit(&on_their_way, memory_order_relaxed) > 0;
}

static struct living *place_for_one(void)
{
	for (struct living *l = living; l < living + GMOD_LOOKS_LIVING; l++)
		if (!l->block)
			return l;
	return NULL;
}

/* One more would only come behind those that are late. Where none is on its way, something else may be. */
static bool is_held_up(const struct gmod_context *c)
{
	bool some = false;

	for (const struct living *l = living; l < living + GMOD_LOOKS_LIVING; l++) {
		if (!l->block || l->context != c)
			continue;
		if (gmod_monotonic_ns() - l->asked_ns > GMOD_LOOK_SETTLES)
			return true;
		some = true;
	}
	return !some && !gmod_stream_is_idle(c->stream);
}

/* The buffer is pinned: it cannot be freed before it is known that a copy is on its way. */
static void ask(struct living *l, struct gmod_block *b, uint64_t word)
{
	*l = (struct living){.record = b->record,
			     .word = word,
			     .context = b->context,
			     .life = b->life,
			     .canary = *gmod_block_canary(b),
			     .redzone = gmod_block_redzone(b),
			     .lands = gmod_pinned(b->context, &b->context->looks) +
				      (GMOD_LOOKS + (l - living)) * GMOD_LOOK_BYTES,
			     .began = gmod_now(),
			     .asked_ns = gmod_monotonic_ns()};
	atomic_fetch_add_explicit(&b->looks, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&on_their_way, 1, memory_order_relaxed);
	l->block = b;
	if (gmod_look_ask(&l->canary, l->redzone, l->lands, b->context->stream))
		return;
	gmod_degraded("a look at memory in stream order");
	forget(l);
}

/* false: it is held up. */
static bool ask_in_context(struct living *l, struct gmod_block *b, uint64_t word, bool if_at_once)
{
	CUstreamCaptureMode mode;
	bool asks;

	if (!gmod_block_context(b) || !gmod_context_enter(b->context))
		return true;
	mode = gmod_relaxed_begin();
	gmod_proof_remember();
	asks = !if_at_once || !is_held_up(b->context);
	if (asks)
		ask(l, b, word);
	gmod_relaxed_end(mode);
	gmod_context_leave(b->context);
	return asks;
}

/* if_at_once: not where the answer would take long; false: there. */
static bool look_at(struct living *l, struct gmod_block *b, uint64_t activity, bool if_at_once)
{
	struct gmod_record *r = b->record;
	bool had_its_turn = true;
	uint64_t word;

	gmod_pin(GMOD_PIN_ORDERED, r->position);
	word = word_of(b, r);
	if (word && gmod_block_is_armed(b)) {
		had_its_turn = ask_in_context(l, b, word, if_at_once);
		if (had_its_turn) {
			b->seen_ns = gmod_monotonic_ns();
			b->seen_activity = activity;
		}
	}
	gmod_unpin(GMOD_PIN_ORDERED);
	return had_its_turn;
}

/* Or has none to have. */
static bool has_had_its_look(const struct gmod_block *b, uint64_t activity)
{
	return gmod_block_state(b) != GMOD_ARMED || (activity != UINT64_MAX && b->seen_activity == activity);
}

_Static_assert(GMOD_CONTEXTS <= 64, "a bit for each context");

/*
 * What is held up keeps its turn, and others of its context wait with it. What is not filled yet is passed over: an
 * activity will tell that it is.
 */
static bool take_turn(struct living *l, struct gmod_block *b, uint64_t activity, uint64_t *held)
{
	uint64_t context = UINT64_C(1) << gmod_context_index(__atomic_load_n(&b->context, __ATOMIC_RELAXED));

	if (!(*held & context) && look_at(l, b, activity, true))
		return true;
	*held |= context;
	return false;
}

static bool unseen; /* nothing runs, and some had no look since; the monitor's own */

/* While the device works each of them is looked at each 100 ms; at rest once more, and then the monitor sleeps. */
static void look_at_some(void)
{
	enum { AMONG = 128 };
	static uint32_t next, in_a_row; /* that had their looks */
	static uint64_t of;
	uint32_t count = atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed);
	uint64_t activity = gmod_activity_done(), before = gmod_monotonic_ns() - GMOD_MILLISECONDS(100), held = 0;
	bool at_rest = activity != UINT64_MAX;
	struct living *l;

	if (of != activity)
		in_a_row = 0;
	of = activity;
	unseen = at_rest && in_a_row < count;
	for (uint32_t i = 0; i < count && i < AMONG && (unseen || !at_rest) && gmod_on() && (l = place_for_one());
	     i++) {
		struct gmod_block *b = &gmod_blocks[next = (next + 1) % count];
		bool had = has_had_its_look(b, activity) || (b->seen_ns <= before && take_turn(l, b, activity, &held));

		in_a_row = had ? in_a_row + 1 : 0;
		unseen = at_rest && in_a_row < count;
	}
}

/* As long as that does not take too long: what is held up goes unseen. */
static void look_at_all(void)
{
	uint32_t count = atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed);
	uint64_t deadline = GMOD_MILLISECONDS(500), activity = gmod_activity_done();
	struct living *l;

	for (uint32_t i = 0; i < count && gmod_on(); i++) {
		if (gmod_block_state(&gmod_blocks[i]) != GMOD_ARMED)
			continue;
		for (l = place_for_one(); !l && gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 50); l = place_for_one())
			take_answers();
		if (!l)
			return;
		look_at(l, &gmod_blocks[i], activity, false);
	}
	while (take_answers() && gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 50))
		;
}

void gmod_ordered_take_answers(void)
{
	if (!gmod_lock(&judging))
		return;
	take_answers();
	gmod_unlock(&judging);
}

void gmod_ordered_tick(void)
{
	if (!atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed) || !gmod_lock(&judging))
		return;
	judge_all(NULL);
	free_those_left();
	take_answers();
	look_at_some();
	gmod_unlock(&judging);
}

uint64_t gmod_ordered_leisure(void)
{
	bool some = unseen || atomic_load_explicit(&gmod_blocks_awaited, memory_order_relaxed) ||
		    atomic_load_explicit(&on_their_way, memory_order_relaxed);

	return some                                                            ? GMOD_MILLISECONDS(5)
	       : atomic_load_explicit(&gmod_blocks_left, memory_order_relaxed) ? GMOD_MILLISECONDS(100)
									       : UINT64_MAX;
}

void gmod_ordered_look(void)
{
	uint64_t deadline = GMOD_MILLISECONDS(100);

	if (!atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed) || !gmod_lock(&judging))
		return;
	do
		judge_all(NULL);
	while (atomic_load_explicit(&gmod_blocks_awaited, memory_order_relaxed) &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 2));
	free_those_left();
	look_at_all();
	gmod_unlock(&judging);
}

/* ---- the end of a context ---- */

/* Memory of a pool may outlive it; with a primary context that is reset it goes. */
static bool is_gone(const struct gmod_block *b)
{
	uint64_t start;

	return NEXT(cuPointerGetAttribute)(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, b->record->bounds.user) !=
	       CUDA_SUCCESS;
}

static void lose(struct gmod_block *b)
{
	struct gmod_record *r = b->record;

	/* Where the pool outlives the context, it keeps what was left. */
	if (gmod_block_state(b) == GMOD_LEFT) {
		if (take_left(b))
			gmod_block_retire(b);
		return;
	}
	if (!is_gone(b) || !gmod_record_begin_release(r, word_of(b, r)))
		return;
	gmod_index_remove(r->bounds.head_from, r->bounds.tail_to, r->position);
	gmod_block_retire(b);
}

static void for_each_of(const struct gmod_context *c, void (*visit)(struct gmod_block *))
{
	for (uint32_t i = 0; i < atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed); i++) {
		struct gmod_block *b = &gmod_blocks[i];

		if (__atomic_load_n(&b->context, __ATOMIC_RELAXED) == c && gmod_block_is_held(b))
			visit(b);
	}
}

/* Its streams end with it. */
static void forget_stream(struct gmod_block *b)
{
	atomic_store_explicit(&b->stream, 0, memory_order_relaxed);
}

static void before(struct gmod_context *c)
{
	(void)c;
	gmod_ordered_passed();
	gmod_ordered_look();
}

/* What was asked for has landed, or never will. */
static void commit(struct gmod_context *c)
{
	bool begun;

	if (!atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed))
		return;
	begun = gmod_lock(&judging);
	for_each_of(c, forget_stream);
	if (begun)
		judge_all(c);
	/* Whoever judges: what comes to lie there next is not these. */
	for_each_of(c, lose);
	if (begun)
		gmod_unlock(&judging);
}

const struct gmod_context_listener gmod_ordered_of_context = {{
    [GMOD_CONTEXT_BEFORE] = before,
    [GMOD_CONTEXT_COMMIT] = commit,
}};
