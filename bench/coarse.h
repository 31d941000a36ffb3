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
	void (*work)(unsigned rounds); /* timed: allocate, copy in, run the kernels so often, copy out, free */
	uint64_t (*check)(void);       /* after work: values that are wrong */
};

extern const struct program bfs, fft, mri_fhd, mri_q, pns;           /* memory of cudaMalloc */
extern const struct program bilateral_filter, mummer, pitch_texture; /* pitched memory */
extern const struct program concurrent_kernels, mri_gridding;        /* pinned host memory */

/* ---- coarse.cu ---- */

#define CUDA(call) cuda_require((call), #call)
void cuda_require(cudaError_t e, const char *call);

/* cudaMalloc and the like, counted; ended by the cudaFree or cudaFreeHost of the same memory. */
void *device_alloc(size_t bytes);
void *device_alloc_pitched(size_t width, size_t rows, size_t *pitch);
void *host_alloc(size_t bytes);

/* Device memory that holds these values; and its values back, the memory freed. */
float *copy_floats_in(const std::vector<float> &values);
void copy_floats_out(std::vector<float> &values, float *p);

/* The same pseudo-random numbers on every machine: 0 <= random_float() < 1. */
void random_seed(uint64_t seed);
uint64_t random_u64(void);
float random_float(void);

/* How many of `count` values are further than `tolerance` of the greatest expected one from what is expected. */
uint64_t count_wrong(const float *found, const float *expected, size_t count, float tolerance);

static inline unsigned blocks_for(size_t threads, unsigned block)
{
	return (unsigned)((threads + block - 1) / block);
}

#endif
