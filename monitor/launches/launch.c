#include "monitor/launches/launch.h"

#include "monitor/launches/proof.h"

/* The slot for a stream: its own, an empty one, or one whose work is proven complete; NULL when all are in use. */
static struct gmod_last_launch *slot_for(struct gmod_thread *t, uint64_t stream)
{
	unsigned start = gmod_last_launch_start(stream);
	struct gmod_last_launch *free_slot = NULL;

	for (unsigned i = 0; i < GMOD_STREAMS_PER_THREAD; i++) {
		struct gmod_last_launch *last = &t->last[(start + i) % GMOD_STREAMS_PER_THREAD];
		uint64_t key = atomic_load_explicit(&last->stream, memory_order_relaxed);

		if (key == stream)
			return last;
		if (!key)
			return free_slot ? free_slot : last;
		if (!free_slot && !gmod_last_outstanding(t, (start + i) % GMOD_STREAMS_PER_THREAD))
			free_slot = last;
	}
	return free_slot;
}

/* Only what is proven for a whole context counts for the crowd: its stream is none. */
static void note_crowded(struct gmod_thread *t, uint64_t context, uint64_t ticks)
{
	enum { NO_STREAM = 7 };
	struct gmod_last_launch *crowd = &t->last[GMOD_CROWD];
	uint64_t before = atomic_load_explicit(&crowd->context, memory_order_relaxed);
	bool anew = !gmod_last_outstanding(t, GMOD_CROWD);

	if (anew)
		atomic_store_explicit(&t->crowded_from, atomic_load_explicit(&t->launches, memory_order_relaxed) - 1,
				      memory_order_relaxed);
	/* Launches of several contexts in one mark cannot be proven by any one of them. */
	atomic_store_explicit(&crowd->context, anew || before == context ? context : GMOD_NO_CONTEXT,
			      memory_order_relaxed);
	atomic_store_explicit(&crowd->stream, NO_STREAM, memory_order_relaxed);
	atomic_store_explicit(&crowd->ticks, ticks, memory_order_release);
}

void gmod_note_last_launch(struct gmod_thread *t, uint64_t context, uint64_t stream, uint64_t ticks)
{
	struct gmod_last_launch *last = slot_for(t, stream);

	if (!last) {
		note_crowded(t, context, ticks);
		return;
	}
	if (atomic_load_explicit(&last->stream, memory_order_relaxed) == stream) {
		atomic_store_explicit(&last->ticks, ticks, memory_order_release);
		return;
	}
	/* A reader that sees the old stream before and after reads the old values; in between it sees no stream. */
	atomic_store_explicit(&last->stream, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&last->context, context, memory_order_relaxed);
	atomic_store_explicit(&last->ticks, ticks, memory_order_relaxed);
	atomic_store_explicit(&last->stream, stream, memory_order_release);
}

void gmod_launch_abandon(struct gmod_thread *t)
{
	struct gmod_launch *l = gmod_launch_under_way(t);

	if (l)
		gmod_launch_end(t, l, true);
	/* The thread that takes the record over has a stream of the same key. */
	gmod_stream_destroyed(
	    gmod_stream_key_per_thread(atomic_load_explicit(&gmod_hot.context, memory_order_relaxed)));
	for (unsigned i = 0; i < GMOD_STREAMS_PER_THREAD; i++) {
		uint64_t context = atomic_load_explicit(&t->last[i].context, memory_order_relaxed);

		if (atomic_load_explicit(&t->last[i].stream, memory_order_relaxed) ==
		    gmod_stream_key_per_thread(context))
			gmod_stream_destroyed(gmod_stream_key_per_thread(context));
	}
}
