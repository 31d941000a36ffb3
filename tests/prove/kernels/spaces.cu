// Objects other than the buffers: shared memory, local arrays, tables and parameters.

__device__ int counters[8];
__constant__ int primes[6] = {2, 3, 5, 7, 11, 13};
extern __shared__ int dynamic[];

struct Job {
	int *to;
	short first, count;
	int weights[4];
};

extern "C" __global__ void tile_good(int *to)
{
	__shared__ int tile[32];
	tile[threadIdx.x] = threadIdx.x;
	__syncthreads();
	to[threadIdx.x] = tile[31 - threadIdx.x];
}

extern "C" __global__ void tile_bad(int *to)
{
	__shared__ int tile[32];
	tile[threadIdx.x] = threadIdx.x;
	__syncthreads();
	to[threadIdx.x] = tile[32 - threadIdx.x];
}

extern "C" __global__ void dynamic_good(int *to)
{
	dynamic[threadIdx.x] = to[threadIdx.x];
	__syncthreads();
	to[threadIdx.x] = dynamic[(threadIdx.x + 1) % blockDim.x];
}

extern "C" __global__ void dynamic_bad(int *to)
{
	dynamic[threadIdx.x] = to[threadIdx.x];
	__syncthreads();
	to[threadIdx.x] = dynamic[threadIdx.x + 1];
}

// Sums by halves: each round reads what the last one wrote.
extern "C" __global__ void halves_good(int *to)
{
	dynamic[threadIdx.x] = threadIdx.x;
#pragma unroll 1
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			dynamic[threadIdx.x] += dynamic[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		*to = dynamic[0];
}

extern "C" __global__ void halves_bad(int *to)
{
	dynamic[threadIdx.x] = threadIdx.x;
#pragma unroll 1
	for (int half = blockDim.x; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			dynamic[threadIdx.x] += dynamic[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		*to = dynamic[0];
}

extern "C" __global__ void local_good(int *to, int n)
{
	int kept[8];
#pragma unroll 1
	for (int i = 0; i < 8; i++)
		kept[i] = i * n;
	to[threadIdx.x] = kept[to[threadIdx.x] & 7];
}

extern "C" __global__ void local_bad(int *to, int n)
{
	int kept[8];
#pragma unroll 1
	for (int i = 0; i < 8; i++)
		kept[i] = i * n;
	to[threadIdx.x] = kept[to[threadIdx.x] & 15];
}

extern "C" __global__ void table_good(int *to)
{
	to[threadIdx.x] = primes[threadIdx.x % 6];
}

extern "C" __global__ void table_bad(int *to)
{
	to[threadIdx.x] = primes[threadIdx.x % 7];
}

extern "C" __global__ void struct_good(Job job)
{
	if (threadIdx.x < job.count)
		job.to[job.first + threadIdx.x] = job.weights[threadIdx.x & 3];
}

extern "C" __global__ void struct_bad(Job job)
{
	if (job.first + threadIdx.x <= job.count)
		job.to[job.first + threadIdx.x] = job.weights[threadIdx.x & 3];
}

extern "C" __global__ void counted_good(const int *values)
{
	atomicAdd(&counters[values[threadIdx.x] & 7], 1);
}

extern "C" __global__ void counted_bad(const int *values)
{
	atomicAdd(&counters[values[threadIdx.x]], 1);
}

// A slot from an atomic counter; the good one gives it back.
extern "C" __global__ void slots_good(int *slots, int *used, int n)
{
	int slot = atomicAdd(used, 1);
	if (slot < n)
		slots[slot] = threadIdx.x;
	else
		atomicSub(used, 1);
}

extern "C" __global__ void slots_bad(int *slots, int *used, int n)
{
	int slot = atomicAdd(used, 1);
	if (slot <= n)
		slots[slot] = threadIdx.x;
}
