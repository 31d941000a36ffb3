/* For programs over the CUDA runtime (rt_*.cu): the checked call, one array and one kernel. */
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define RT(call) runtime_check((call), #call, __FILE__, __LINE__)

static inline void runtime_check(cudaError_t e, const char *call, const char *file, int line)
{
	if (e == cudaSuccess)
		return;
	if (e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver) {
		fprintf(stderr, "skipped: %s\n", cudaGetErrorString(e));
		exit(77);
	}
	fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(e));
	exit(3);
}

extern "C" __attribute__((noinline, visibility("default"))) float *make_array(int n)
{
	float *p;

	RT(cudaMalloc(&p, n * sizeof(float)));
	return p;
}

/* xor, so that what it writes past the end is never what was there; it turns 0 into 1.0f, by the upper two bytes. */
extern "C" __global__ void rt_fill(float *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		((unsigned *)p)[i] ^= 0x3f800000u;
}
