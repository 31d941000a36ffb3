/* What the looks at stream-ordered buffers have found: the monitor's part of lib/buffers/ordered.h. */
#include <string.h>

#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/buffers/ordered.h"
#include "lib/buffers/ordered_block.h"
#include "monitor/launches/proof.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/swept.h"

/* What a copy brings has all come so much later than its first byte. */
#define SETTLES GMOD_MILLISECONDS(2)

static void sight(struct gmod_block *b, const struct gmod_diff *diff, const uint8_t *bytes, struct gmod_moment seen)
{
	uint64_t count = b->look.from + GMOD_LOOK_BYTES - diff->first;
	uint8_t filled[GMOD_LOOK_BYTES];
	struct gmod_sighting s = {
	    .record = b->record,
	    .details = gmod_record_details(b->record),
	    .word = b->word,
	    .side = GMOD_TAIL,
	    .diff = *diff,
	    .observed = bytes + (diff->first - b->look.from),
	    .expected = filled + (diff->first - b->look.from),
	    .observed_count = count < GMOD_OBSERVED_MAX ? (uint32_t)count : GMOD_OBSERVED_MAX,
	    .intact = b->intact,
	    .seen = seen,
	    .last = true,
	    .stream = b->looked_in,
	    .from = b->looked_from,
	    .to = b->looked_to,
	};

	gmod_look_repeat(b->look.filled, filled);
	gmod_damage_sighting(&s);
}

/* false: it may still come. at_once: nothing is on its way any more. */
static bool judge(struct gmod_block *b, unsigned place, bool at_once)
{
	uint8_t bytes[GMOD_LOOK_BYTES];
	struct gmod_diff diff;
	enum gmod_look_answer answer = gmod_look_answer(b->context, place, &b->look, bytes, &diff);

	if (answer == GMOD_LOOK_COMES)
		return at_once;
	if (answer == GMOD_LOOK_INTACT)
		return true;
	if (!at_once && !b->changed_ns)
		b->changed_ns = gmod_monotonic_ns();
	if (!at_once && gmod_monotonic_ns() - b->changed_ns < SETTLES)
		return false;
	sight(b, &diff, bytes, gmod_now());
	return true;
}

static bool is_freed(const struct gmod_block *b)
{
	/* acquire: whoever freed it is done with it */
	return atomic_load_explicit(&b->freed, memory_order_acquire);
}

static void judge_freed(struct gmod_block *b, bool at_once)
{
	if (!judge(b, gmod_place_of(b), at_once))
		return;
	atomic_fetch_sub_explicit(&gmod_blocks_awaited, 1, memory_order_relaxed);
	gmod_block_retire(b);
}

/* One thread at a time. */
static atomic_flag judging = ATOMIC_FLAG_INIT;

static bool begin(void)
{
	uint64_t deadline = GMOD_SECONDS(1);

	while (atomic_flag_test_and_set_explicit(&judging, memory_order_acquire))
		if (!gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10))
			return false;
	return true;
}

static void end(void)
{
	atomic_flag_clear_explicit(&judging, memory_order_release);
}

static void judge_all(const struct gmod_context *c, bool at_once)
{
	uint32_t count = atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed);

	for (uint32_t i = 0; atomic_load_explicit(&gmod_blocks_awaited, memory_order_relaxed) && i < count; i++)
		if (is_freed(&gmod_blocks[i]) && (!c || gmod_blocks[i].context == c))
			judge_freed(&gmod_blocks[i], at_once);
}

/* ---- those that live ---- */

enum { AT_A_TIME = 4, AMONG = 128 };
#define EVERY GMOD_MILLISECONDS(100)

/* The pin is held until it has landed: the buffer cannot be freed before. */
static void look_pinned(struct gmod_block *b)
{
	uint64_t deadline = GMOD_SECONDS(5);
	struct gmod_moment began = gmod_now();
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool asked = gmod_look_ask(b->context, GMOD_LOOKS, &b->look, b->context->stream);

	gmod_relaxed_end(mode);
	b->looked_in = b->stream;
	b->looked_from = b->armed;
	b->looked_to = UINT64_MAX;
	b->changed_ns = 0;
	while (asked && !judge(b, GMOD_LOOKS, false) && gmod_context_is_alive(b->context) &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 50))
		;
	if (!asked || !deadline)
		gmod_degraded("a look at memory in stream order");
	else
		b->intact = began;
	b->changed_ns = 0;
}

static void look_in_context(struct gmod_block *b)
{
	if (!gmod_block_context(b) || !gmod_context_enter(b->context))
		return;
	gmod_proof_remember();
	look_pinned(b);
	gmod_context_leave(b->context);
}

/* true: it was due, and its turn comes again after so long. As long as the record is its own, a block is. */
static bool look_at(struct gmod_block *b, uint64_t every)
{
	struct gmod_record *r = b->record;
	uint64_t word = b->word, now = gmod_monotonic_ns();
	bool due;

	if (gmod_block_state(b) != GMOD_ARMED || now - b->seen_ns < every)
		return false;
	gmod_pin(GMOD_PIN_ORDERED, r->position);
	due = gmod_record_live(r) == word && b->record == r && gmod_block_is_armed(b);
	if (due) {
		b->seen_ns = now;
		look_in_context(b);
	}
	gmod_unpin(GMOD_PIN_ORDERED);
	return due;
}

/* One after another: so many of so many. */
static void look_at_some(uint32_t most, uint32_t among, uint64_t every)
{
	static uint32_t next;
	uint32_t count = atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed);

	for (uint32_t i = 0; i < count && i < among && most && gmod_on(); i++) {
		next = (next + 1) % count;
		most -= look_at(&gmod_blocks[next], every);
	}
}

void gmod_ordered_tick(struct gmod_budget *unused)
{
	(void)unused;
	if (!atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed) || !begin())
		return;
	judge_all(NULL, false);
	look_at_some(AT_A_TIME, AMONG, EVERY);
	end();
}

uint64_t gmod_ordered_leisure(void)
{
	return atomic_load_explicit(&gmod_blocks_awaited, memory_order_relaxed) ? GMOD_MILLISECONDS(5) : UINT64_MAX;
}

void gmod_ordered_look(bool all)
{
	uint64_t deadline = GMOD_MILLISECONDS(100);

	if (!atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed) || !begin())
		return;
	do
		judge_all(NULL, false);
	while (atomic_load_explicit(&gmod_blocks_awaited, memory_order_relaxed) &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 2));
	if (all)
		look_at_some(UINT32_MAX, UINT32_MAX, 0);
	end();
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

	if (!is_gone(b) || !gmod_record_begin_release(r, b->word))
		return;
	gmod_index_remove(r->bounds.head_from, r->bounds.tail_to, r->position);
	gmod_block_retire(b);
}

static void for_each_of(const struct gmod_context *c, void (*visit)(struct gmod_block *))
{
	for (uint32_t i = 0; i < atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed); i++) {
		struct gmod_block *b = &gmod_blocks[i];

		if (b->context == c && gmod_block_state(b) != GMOD_NO_BLOCK && !is_freed(b))
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
	gmod_ordered_look(true);
}

/* What was asked for has landed, or never will. */
static void commit(struct gmod_context *c)
{
	if (!atomic_load_explicit(&gmod_blocks_used, memory_order_relaxed) || !begin())
		return;
	for_each_of(c, forget_stream);
	judge_all(c, true);
	for_each_of(c, lose);
	end();
}

const struct gmod_context_listener gmod_ordered_of_context = {{
    [GMOD_CONTEXT_BEFORE] = before,
    [GMOD_CONTEXT_COMMIT] = commit,
}};
