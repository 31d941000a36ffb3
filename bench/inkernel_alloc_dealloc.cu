/* alloc-dealloc: each thread allocates 64 bytes, writes and reads them, and frees them. */
#include "inkernel.cuh"

enum { WORDS = 8 };

template <class Memory> static __global__ void alloc_write_free(uint64_t *out)
{
	unsigned i = thread_number();
	uint64_t *p = (uint64_t *)Memory::get(WORDS * sizeof(*p));

	if (!p) {
		out[i] = NO_MEMORY;
		return;
	}
	words_fill(p, WORDS, i);
	p = through_memory(p);
	out[i] = words_sum(p, WORDS);
	Memory::put(p);
}

template <class Memory> static void run(const struct work *w)
{
	alloc_write_free<Memory><<<w->threads / w->block, w->block, 0, w->stream>>>(w->out);
}

const struct program alloc_dealloc = {"alloc-dealloc", 0, {run<memory_cuda>, run<memory_gmod>}, {}};
