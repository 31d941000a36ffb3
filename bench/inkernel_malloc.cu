/* malloc: each thread allocates 64 bytes. They are written, read and freed outside the timed part. */
#include "inkernel.cuh"

enum { WORDS = 8 };

template <class Memory> static __global__ void malloc_only(uint64_t **held)
{
	held[thread_number()] = (uint64_t *)Memory::get(WORDS * sizeof(uint64_t));
}

static __global__ void malloc_fill(uint64_t **held)
{
	unsigned i = thread_number();

	if (held[i])
		words_fill(held[i], WORDS, i);
}

template <class Memory> static void run(const struct work *w)
{
	malloc_only<Memory><<<w->threads / w->block, w->block, 0, w->stream>>>((uint64_t **)w->scratch);
}

template <class Memory> static void tidy(const struct work *w)
{
	uint64_t **held = (uint64_t **)w->scratch;

	malloc_fill<<<w->threads / w->block, w->block, 0, w->stream>>>(held);
	held_free<Memory, WORDS><<<w->threads / w->block, w->block, 0, w->stream>>>(held, w->out);
}

const struct program malloc_alone = {
    "malloc", sizeof(uint64_t *), {run<memory_cuda>, run<memory_gmod>}, {tidy<memory_cuda>, tidy<memory_gmod>}};
