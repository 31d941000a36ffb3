#include "lib/buffers/quarantine.h"

#include "lib/base/facts.h"
#include "lib/base/lock.h"

enum { MOST = 4096 };

/* A ring with gaps, where those of one context were taken. Under the lock, which is held for memory work only. */
static struct kept {
	struct gmod_found buffer; /* record NULL: a gap */
	uint64_t bytes;
} kept[MOST];
static uint64_t first, next, bytes_kept;
static atomic_flag lock = ATOMIC_FLAG_INIT;

bool gmod_quarantine_put(const struct gmod_found *buffer, uint64_t bytes)
{
	bool put;

	if (!gmod_lock(&lock))
		return false;
	put = next - first < MOST;
	if (put) {
		kept[next % MOST].buffer = *buffer;
		kept[next++ % MOST].bytes = bytes;
		bytes_kept += bytes;
	}
	gmod_unlock(&lock);
	return put;
}

static struct kept *oldest_of(const struct gmod_context *c)
{
	for (uint64_t i = first; i < next; i++) {
		const struct gmod_record *r = kept[i % MOST].buffer.record;

		if (r && gmod_record_details(r)->context == c)
			return &kept[i % MOST];
	}
	return NULL;
}

bool gmod_quarantine_take(const struct gmod_context *c, uint64_t most, struct gmod_found *oldest)
{
	struct kept *one = NULL;

	if (!gmod_options()->quarantine_mb || !gmod_lock(&lock))
		return false;
	if (bytes_kept > most || next - first == MOST)
		one = oldest_of(c);
	if (one) {
		*oldest = one->buffer;
		bytes_kept -= one->bytes;
		*one = (struct kept){.bytes = 0};
	}
	while (first < next && !kept[first % MOST].buffer.record)
		first++;
	gmod_unlock(&lock);
	return one;
}

bool gmod_quarantine_holds(uint64_t address)
{
	bool holds = false;

	if (!gmod_options()->quarantine_mb || !gmod_lock(&lock))
		return false;
	for (uint64_t i = first; i < next && !holds; i++)
		holds = kept[i % MOST].buffer.bounds.user == address;
	gmod_unlock(&lock);
	return holds;
}
