/* What the end of a context does to the buffers in it. */
#include "lib/buffers/buffer.h"
#include "lib/base/facts.h"
#include "lib/base/phase.h"
#include "lib/buffers/gather.h"
#include "lib/buffers/misuse.h"
#include "monitor/watch/verify.h"
#include "monitor/watch/swept.h"

/*
 * Records of the context, one after another. LIVE ones are RELEASING and this thread's when they are visited; of those
 * that are RELEASING, this thread's are visited: one that another thread is freeing at this moment stays that thread's.
 * at: for the visits.
 */
static void for_each_of(const struct gmod_context *c, enum gmod_state state, const struct gmod_stack *at,
			void (*visit)(struct gmod_record *, struct gmod_moment swept, const struct gmod_stack *at))
{
	uint32_t end = gmod_registry_used();

	for (uint32_t i = 0; i < end; i++) {
		struct gmod_record *r = gmod_record_at(i);
		uint64_t word = atomic_load_explicit(&r->word, memory_order_acquire);
		struct gmod_moment swept;

		if ((word & 3) != state || gmod_record_details(r)->context != c)
			continue;
		swept = gmod_sweep_latest();
		if (state == GMOD_RELEASING ? gmod_record_details(r)->leaving : gmod_record_begin_leaving(r, word))
			visit(r, swept, at);
	}
}

static void verify_leaving(struct gmod_record *r, struct gmod_moment swept, const struct gmod_stack *at)
{
	(void)at;
	gmod_record_details(r)->leaving = true;
	/* Before the driver is called: it may give these pages to a buffer of another context at once. */
	gmod_index_remove(r->bounds.head_from, r->bounds.tail_to, r->position);
	gmod_verify_released(r, GMOD_VERIFY_VISIBLE, NULL, swept);
}

/* Destructors that run behind a reset free it: the report is to say what it was. */
static void lose_buffer(struct gmod_record *r, struct gmod_moment swept, const struct gmod_stack *at)
{
	(void)swept;
	gmod_misuse_remember_end(r, at);
	gmod_buffer_lose(r);
}

static void reinstate_buffer(struct gmod_record *r, struct gmod_moment swept, const struct gmod_stack *at)
{
	(void)swept;
	(void)at;
	gmod_record_details(r)->leaving = false;
	gmod_index_reinstate(r);
}

static void look_before(struct gmod_context *c)
{
	gmod_buffer_let_go(c, 0);
	if (gmod_on())
		gmod_gather(c, GMOD_GATHER_WHOLE);
}

static void release_all(struct gmod_context *c)
{
	for_each_of(c, GMOD_LIVE, NULL, verify_leaving);
}

static void lose_all(struct gmod_context *c)
{
	struct gmod_stack at; /* walked once: there may be many buffers */

	gmod_unwind(&at, gmod_options()->stack_depth);
	for_each_of(c, GMOD_RELEASING, &at, lose_buffer);
}

static void reinstate_all(struct gmod_context *c)
{
	for_each_of(c, GMOD_RELEASING, NULL, reinstate_buffer);
}

const struct gmod_context_listener gmod_buffers_of_context = {{
    [GMOD_CONTEXT_BEFORE] = look_before,
    [GMOD_CONTEXT_BEGIN] = release_all,
    [GMOD_CONTEXT_COMMIT] = lose_all,
    [GMOD_CONTEXT_CANCEL] = reinstate_all,
}};
