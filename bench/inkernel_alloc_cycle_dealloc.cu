/*
 * alloc-cycle-dealloc: five kernels. The first allocates 64 bytes a thread; in the next three each thread replaces a
 * buffer, another one's each time, by a new one with what the old one held; the last frees them.
 */
#include "inkernel.cuh"

enum { WORDS = 8, CYCLES = 3, STRIDE = 97 };

template <class Memory> static __global__ void cycle_alloc(uint64_t **held)
{
	unsigned i = thread_number();
	uint64_t *p = (uint64_t *)Memory::get(WORDS * sizeof(*p));

	if (p)
		words_fill(p, WORDS, i);
	held[i] = p;
}

template <class Memory> static __global__ void cycle_replace(uint64_t **held, unsigned cycle)
{
	unsigned j = (thread_number() + cycle * STRIDE) % thread_count();
	uint64_t *old = held[j], *p = (uint64_t *)Memory::get(WORDS * sizeof(*p));

	for (int k = 0; p && old && k < WORDS; k++)
		p[k] = mix(old[k] + cycle);
	if (old)
		Memory::put(old);
	held[j] = old ? p : NULL;
	if (p && !old)
		Memory::put(p);
}

template <class Memory> static void run(const struct work *w)
{
	uint64_t **held = (uint64_t **)w->scratch;
	unsigned blocks = w->threads / w->block;

	cycle_alloc<Memory><<<blocks, w->block, 0, w->stream>>>(held);
	for (unsigned cycle = 1; cycle <= CYCLES; cycle++)
		cycle_replace<Memory><<<blocks, w->block, 0, w->stream>>>(held, cycle);
	held_free<Memory, WORDS><<<blocks, w->block, 0, w->stream>>>(held, w->out);
}

const struct program alloc_cycle_dealloc = {
    "alloc-cycle-dealloc", sizeof(uint64_t *), {run<memory_cuda>, run<memory_gmod>}, {}};
