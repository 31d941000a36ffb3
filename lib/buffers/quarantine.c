#include "lib/buffers/quarantine.h"

#include "lib/base/facts.h"
#include "lib/base/lock.h"

enum { MOST = 4096 };

/* A ring. Under the lock, which is held for memory work only. */
static struct {
	struct gmod_found buffer;
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

bool gmod_quarantine_take(uint64_t most, struct gmod_found *oldest)
{
	bool taken;

	if (!gmod_options()->quarantine_mb || !gmod_lock(&lock))
		return false;
	taken = first < next && (bytes_kept > most || next - first == MOST);
	if (taken) {
		*oldest = kept[first % MOST].buffer;
		bytes_kept -= kept[first++ % MOST].bytes;
	}
	gmod_unlock(&lock);
	return taken;
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
