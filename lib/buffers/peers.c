#include "lib/buffers/peers.h"

#include <pthread.h>

#include "lib/base/asked.h"

static _Atomic uint64_t let_in[GMOD_DEVICES]; /* by owner: the devices whose contexts may use its memory, a bit each */

bool gmod_peers_use(int device)
{
	return device < 0 || device >= GMOD_DEVICES || atomic_load_explicit(&let_in[device], memory_order_relaxed);
}

/*
 * A publisher makes its record LIVE and then looks at the readers; a new reader is noted before the records are
 * walked (both seq_cst): one of the two sees the other. Both may: letting in twice does no harm.
 */
void gmod_peers_published(const struct gmod_record *r)
{
	int owner = gmod_record_details(r)->device;
	uint64_t readers;

	if (owner < 0 || owner >= GMOD_DEVICES)
		return;
	atomic_thread_fence(memory_order_seq_cst);
	readers = atomic_load_explicit(&let_in[owner], memory_order_relaxed);
	if (readers)
		gmod_record_details(r)->backend->open(r, readers);
}

static void let_into(uint32_t position, int owner, uint64_t readers)
{
	const struct gmod_record *r = gmod_record_at(position);
	const struct gmod_details *d = gmod_record_details(r);

	/* Pinned, the buffer stays: a free of it waits. */
	gmod_pin(GMOD_PIN_PEERS, position);
	if (gmod_record_live(r) && d->device == owner && d->backend->open)
		d->backend->open(r, readers);
	gmod_unpin(GMOD_PIN_PEERS);
}

void gmod_peers_let_in(int reader, int owner)
{
	static pthread_mutex_t one_walks = PTHREAD_MUTEX_INITIALIZER; /* a pin has one owner */
	uint64_t bit = (uint64_t)1 << (reader & (GMOD_DEVICES - 1));
	uint32_t end;

	if (reader < 0 || reader >= GMOD_DEVICES || owner < 0 || owner >= GMOD_DEVICES || reader == owner)
		return;
	atomic_fetch_or_explicit(&let_in[owner], bit, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	end = gmod_registry_used();
	pthread_mutex_lock(&one_walks);
	for (uint32_t i = 0; i < end; i++)
		let_into(i, owner, bit);
	pthread_mutex_unlock(&one_walks);
}
