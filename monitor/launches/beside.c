#include "monitor/launches/beside.h"

#include "monitor/launches/kernels.h"
#include "monitor/launches/proof.h"

static uint64_t stream_under_way(struct gmod_thread *t)
{
	const struct gmod_launch *l = gmod_launch_under_way(t);

	return l ? atomic_load_explicit(&l->stream, memory_order_relaxed) : 0;
}

/* The streams of the crowd are taken for others. */
static uint64_t stream_at(const struct gmod_thread *t, unsigned i)
{
	return i == GMOD_CROWD ? UINT64_MAX : atomic_load_explicit(&t->last[i].stream, memory_order_acquire);
}

bool gmod_others_outstanding(uint64_t stream)
{
	for (struct gmod_thread *t = gmod_threads(); t; t = t->next) {
		uint64_t now = stream_under_way(t);

		if (now && now != stream)
			return true;
		for (unsigned i = 0; i <= GMOD_CROWD; i++)
			if (stream_at(t, i) != stream && gmod_last_outstanding(t, i))
				return true;
	}
	return false;
}

bool gmod_others_launched(uint64_t stream, const struct gmod_thread *own, uint64_t from, uint64_t to)
{
	for (struct gmod_thread *t = gmod_threads(); t; t = t->next) {
		uint64_t now = stream_under_way(t);

		if (now && (now != stream || t != own))
			return true;
		for (unsigned i = 0; i <= GMOD_CROWD; i++) {
			uint64_t in = stream_at(t, i);
			uint64_t ticks = atomic_load_explicit(&t->last[i].ticks, memory_order_acquire);

			if (!in || ticks < from || (in == stream && (t == own || ticks > to)))
				continue;
			return true;
		}
	}
	return false;
}
