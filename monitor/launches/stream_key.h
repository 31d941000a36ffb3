/* Streams as numbers: a key is the stream's handle, or for the default streams a value made of context and thread. */
#ifndef GMOD_MONITOR_LAUNCHES_STREAM_KEY_H
#define GMOD_MONITOR_LAUNCHES_STREAM_KEY_H

#include <stdint.h>

/* Which default stream a NULL handle means, by the entry point's flavour. */
enum gmod_flavour { GMOD_LEGACY, GMOD_PER_THREAD };

/* Keys of default streams and of whole contexts: context pointers are aligned, so the low bits are free. */
enum { GMOD_KEY_LEGACY = 1, GMOD_KEY_PER_THREAD = 2, GMOD_KEY_CONTEXT = 3 };

/* The calling thread's own default stream. */
uint64_t gmod_stream_key_per_thread(uint64_t context);

/* Key of a stream handle as passed to an entry point of that flavour, in that context, by the calling thread. */
static inline uint64_t gmod_stream_key(uint64_t handle, enum gmod_flavour flavour, uint64_t context)
{
	if (handle > (uint64_t)GMOD_KEY_PER_THREAD)
		return handle;
	if (handle == GMOD_KEY_LEGACY || (!handle && flavour == GMOD_LEGACY))
		return context ^ GMOD_KEY_LEGACY;
	return gmod_stream_key_per_thread(context);
}

/* The handle back from a key: CU_STREAM_LEGACY or CU_STREAM_PER_THREAD for the default streams. */
uint64_t gmod_stream_handle(uint64_t key, uint64_t context);

#endif
