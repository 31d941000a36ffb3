#include "monitor/launches/stream_key.h"

#include "lib/base/hash.h"
#include "monitor/launches/thread.h"

uint64_t gmod_stream_key_per_thread(uint64_t context)
{
	struct gmod_thread *t = gmod_thread_self();

	return context ^ GMOD_KEY_PER_THREAD ^ gmod_hash(t ? t->number : 0) >> 32 << 32;
}

uint64_t gmod_stream_handle(uint64_t key, uint64_t context)
{
	uint64_t low = (key ^ context) << 32 >> 32;

	return low == GMOD_KEY_LEGACY || low == GMOD_KEY_PER_THREAD ? low : key;
}
