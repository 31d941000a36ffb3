// Shared, local and constant memory, variables of the module, and copies into shared memory: see global.cu.
#include <cuda_pipeline.h>
#define KERNEL extern "C" __global__ void

__constant__ double table[171];
__device__ int counts[64];
extern __shared__ float dynamic[];

KERNEL shared_static(float *a)
{
	__shared__ float s[128];
	s[threadIdx.x] = a[threadIdx.x]; // bug
	__syncthreads();
	a[threadIdx.x] = s[127 - threadIdx.x % 128];
}

KERNEL shared_neighbour(float *a, int shift)
{ // from one array into the next
	__shared__ float s[64];
	__shared__ float t[64];
	t[threadIdx.x] = a[threadIdx.x];
	s[threadIdx.x] = a[threadIdx.x];
	__syncthreads();
	a[threadIdx.x] = s[threadIdx.x + shift] + t[63 - threadIdx.x]; // bug
}

KERNEL shared_dynamic(float *a, int n)
{
	float *first = dynamic, *second = dynamic + n;
	first[threadIdx.x] = a[threadIdx.x];
	second[threadIdx.x] = 1; // bug
	__syncthreads();
	a[threadIdx.x] = first[n - 1 - threadIdx.x];
}

KERNEL shared_tile(const float *a, float *b, int n)
{ // with a halo
	__shared__ float tile[34];
	int i = blockIdx.x * 32 + threadIdx.x;
	tile[threadIdx.x + 1] = a[i];
	if (threadIdx.x == 0)
		tile[0] = i > 0 ? a[i - 1] : 0;
	if (threadIdx.x == 31)
		tile[33] = i <= n - 1 ? a[i + 1] : 0; // bug
	__syncthreads();
	b[i] = tile[threadIdx.x] + tile[threadIdx.x + 2];
}

KERNEL shared_tile_right(const float *a, float *b, int n)
{
	__shared__ float tile[34];
	int i = blockIdx.x * 32 + threadIdx.x;
	tile[threadIdx.x + 1] = a[i];
	if (threadIdx.x == 0)
		tile[0] = i > 0 ? a[i - 1] : 0;
	if (threadIdx.x == 31)
		tile[33] = i < n - 1 ? a[i + 1] : 0;
	__syncthreads();
	b[i] = tile[threadIdx.x] + tile[threadIdx.x + 2];
}

KERNEL local(int *a, int n)
{
	int own[16];
#pragma unroll 1
	for (int i = 0; i < n; i++)
		own[i] = i * threadIdx.x; // bug
	a[threadIdx.x] = own[threadIdx.x % 16];
}

KERNEL constant(double *a, int n)
{
	int i = threadIdx.x;
	if (i < n)
		a[i] = table[i]; // bug
}

KERNEL variable(int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&counts[i / 4], 1); // bug
}

struct Parameters {
	int at[12];
};

KERNEL in_parameters(int *a, const __grid_constant__ Parameters p, int shift)
{
	if (threadIdx.x < 8)
		a[threadIdx.x] = p.at[threadIdx.x + shift]; // bug
}

KERNEL asynchronous(const float4 *a, float *b, int n)
{
	__shared__ float4 s[64];
	int i = blockIdx.x * 64 + threadIdx.x;
	if (i <= n)
		__pipeline_memcpy_async(&s[threadIdx.x], &a[i], 16); // bug
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	b[i] = s[threadIdx.x].x;
}

KERNEL asynchronous_right(const float4 *a, float *b, int n)
{
	__shared__ float4 s[64];
	int i = blockIdx.x * 64 + threadIdx.x;
	if (i < n)
		__pipeline_memcpy_async(&s[threadIdx.x], &a[i], 16);
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	b[i] = s[threadIdx.x].x;
}

KERNEL shuffled(float *a, int n)
{
	int i = threadIdx.x;
	int from = __shfl_down_sync(~0u, i, 1);
	a[from & 31] = 1;
	if (threadIdx.x % 32 == 31)
		a[n] = 1; // bug
}

__noinline__ __device__ void callee(float *a, int i)
{
	a[i] = 1;
}

__noinline__ __device__ int plain(int i)
{
	return i * 3 % 11;
}

KERNEL calls_plain(float *a, int n)
{
	int i = plain(threadIdx.x);
	if (i >= 0 && i <= n)
		a[i] = 1;
	a[threadIdx.x + n] = 1; // bug
}

KERNEL calls(float *a, int n)
{ // undecided
	callee(a, threadIdx.x + n);
}
