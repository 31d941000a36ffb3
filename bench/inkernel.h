/*
 * The bench of memory that kernels allocate: what its parts share on the host.
 *
 * A program is one of the paper's ("Efficient Buffer Overflow Detection on GPU"), written from its description. Each is
 * compiled twice, over CUDA's malloc and free and over mallocN and freeN, and leaves a number for each thread that
 * depends on all it has read from its buffers: so two allocators that both work give the same checksum.
 */
#ifndef BENCH_INKERNEL_H
#define BENCH_INKERNEL_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../include/gmod.h"

enum memory { MEMORY_CUDA, MEMORY_GMOD };

/* One run of a program. */
struct work {
	unsigned threads, block; /* a multiple of the second: threads of a block */
	cudaStream_t stream;
	void *scratch; /* device memory: the program's `scratch` bytes for each thread, not cleared */
	uint64_t *out; /* for each thread, cleared before the run: what it has read, or NO_MEMORY */
};

enum { BLOCK = 128 }; /* threads of one, where it is no matter how many */
#define NO_MEMORY (~0ull)

/* A number that looks random (the last steps of splitmix64). */
static __host__ __device__ inline uint64_t mix(uint64_t v)
{
	v += 0x9e3779b97f4a7c15ull;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

struct program {
	const char *name;
	size_t scratch;
	void (*run[2])(const struct work *w);  /* by enum memory: launch the kernels; this is timed */
	void (*tidy[2])(const struct work *w); /* what is left to do afterwards, not timed; NULL: nothing */
};

extern const struct program alloc_dealloc, alloc_cycle_dealloc, grid_point, add_string, random_graph, malloc_alone;

/* Run a program again and again and print one line about it; false: it failed, and a line says how. */
bool program_measure(const struct program *p, enum memory memory, unsigned block, unsigned threads);

/* How long until one store behind one of `buffers` live buffers is found, and what a kernel takes beside them. */
bool latency_measure(enum memory memory, unsigned buffers);

/* At least this many allocations and frees from four streams, with everything accounted for. */
bool stress(enum memory memory, uint64_t pairs, unsigned blocks);

/* ---- inkernel_host.cu ---- */

#define CUDA(call) cuda_require((call), #call)
void cuda_require(cudaError_t e, const char *call);

double now_ms(void);
double median(double *values, unsigned count); /* sorts them */

/* "FAIL ", the text and a newline on stdout; false. */
bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is libgmod in the process, with all that is called here? */
bool gmod_is_here(void);
unsigned gmod_findings(void);
/* Stats after a guard pass. false: kernels keep the guard out, or there is no heap. */
bool gmod_look(struct gmod_device_stats *stats);
/* Guard passes until the heap holds `live` buffers and none that wait, for at most 10 s. */
bool gmod_quiet(uint64_t live, struct gmod_device_stats *stats);

#endif
