/*
 * The coarse-grained bench: programs whose host code allocates. What they share.
 *
 * A program is one that the paper measured ("Efficient Buffer Overflow Detection on GPU", table 3), written from its
 * description. Its run is the work between the first allocation and the last free, both included; inputs and what
 * should come out are made before, on the CPU, and compared after, so neither is timed.
 */
#ifndef BENCH_COARSE_H
#define BENCH_COARSE_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

struct program {
	const char *name;
	/* Rounds of its kernels that take 1 s or more on an H200 (measured), and some 5 ms. */
	unsigned rounds, short_rounds;
	void (*prepare)(void);         /* inputs, and what should come out; on the CPU */
	void (*work)(unsigned rounds); /* timed: allocate, copy in, run the kernels so often, copy out */
	uint64_t (*check)(void);       /* after work: values that are wrong */
};

extern const struct program bfs, fft, mri_fhd, mri_q, pns;           /* memory of cudaMalloc */
extern const struct program bilateral_filter, mummer, pitch_texture; /* pitched memory */
extern const struct program concurrent_kernels, mri_gridding;        /* pinned host memory */

/* ---- coarse.cu ---- */

#define CUDA(call) cuda_require((call), #call)
void cuda_require(cudaError_t e, const char *call);

/* cudaMalloc and the like, counted. */
void *device_alloc(size_t bytes);
void *device_alloc_pitched(size_t width, size_t rows, size_t *pitch);
void *host_alloc(size_t bytes);

template <typename Value> Value *device_array(size_t count)
{
	return (Value *)device_alloc(count * sizeof(Value));
}

/*
 * The calling thread's stream, on which its program's kernels are, but for those that want streams of their own: the
 * default stream where one program runs, and one that waits for nothing else where two run at the same time.
 */
extern thread_local cudaStream_t main_stream;

/*
 * Copies and fills. On the default stream they are the runtime's calls without a stream, as programs use them; else
 * they hold up no other stream, and have returned when what was copied to the host is there.
 */
void copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
void copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
	       enum cudaMemcpyKind kind);
void fill(void *p, int value, size_t bytes);

template <typename Symbol> void copy_to_symbol(Symbol &symbol, const void *from, enum cudaMemcpyKind kind)
{
	if (main_stream)
		CUDA(cudaMemcpyToSymbolAsync(symbol, from, sizeof(symbol), 0, kind, main_stream));
	else
		CUDA(cudaMemcpyToSymbol(symbol, from, sizeof(symbol), 0, kind));
}

/*
 * A program's rounds, or some of them. What is done around them is for runs whose kernels are to be timed.
 */
void rounds_begin(void);
void rounds_end(void);

template <typename Round> void run_rounds(unsigned rounds, Round round)
{
	rounds_begin();
	while (rounds--)
		round();
	rounds_end();
}

/* Device memory that holds these values; and such values back. */
template <typename Value> Value *copy_in(const std::vector<Value> &values)
{
	Value *p = device_array<Value>(values.size());

	copy(p, values.data(), values.size() * sizeof(Value), cudaMemcpyHostToDevice);
	return p;
}

template <typename Value> void copy_out(std::vector<Value> &values, const Value *p)
{
	copy(values.data(), p, values.size() * sizeof(Value), cudaMemcpyDeviceToHost);
}

/* The same pseudo-random numbers on every machine: 0 <= random_float() < 1. */
void random_seed(uint64_t seed);
uint64_t random_u64(void);
float random_float(void);

/* How many of `count` values are further than `tolerance` of the greatest expected one from what is expected. */
uint64_t count_wrong(const float *found, const float *expected, size_t count, float tolerance);

double now_ms(void); /* of a clock that only goes on */

static inline unsigned blocks_for(size_t threads, unsigned block)
{
	return (unsigned)((threads + block - 1) / block);
}

#endif
