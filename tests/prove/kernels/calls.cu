// Functions, generic pointers, warps and floats on the way to an index.

__device__ __noinline__ void put(int *to, int i, int value)
{
	to[i] = value;
}

__device__ __noinline__ int depth(int *to, int n)
{
	if (n == 0)
		return 0;
	to[n - 1] = n;
	return depth(to, n - 1) + 1;
}

extern "C" __global__ void call_good(int *to, int n)
{
	if (threadIdx.x < n)
		put(to, threadIdx.x, 1);
}

extern "C" __global__ void call_bad(int *to, int n)
{
	if (threadIdx.x < n)
		put(to + 1, threadIdx.x, 1);
}

// The pointer is shared or global by a parameter.
extern "C" __global__ void generic_good(int *to, int which, int n)
{
	__shared__ int kept[4];
	int *chosen = which ? kept : to;
	if (threadIdx.x < (which ? 4 : n))
		put(chosen, threadIdx.x, 5);
}

extern "C" __global__ void generic_bad(int *to, int which, int n)
{
	__shared__ int kept[4];
	int *chosen = which ? kept : to;
	if (threadIdx.x < n)
		put(chosen, threadIdx.x, 5);
}

extern "C" __global__ void recursion_good(int *to, int n)
{
	to[n] = depth(to, n);
}

extern "C" __global__ void recursion_bad(int *to, int n)
{
	to[n + 1] = depth(to, n);
}

// Each lane's place among those with a value: a scan of the warp.
extern "C" __global__ void packed_good(int *to, const int *from)
{
	int value = from[threadIdx.x];
	unsigned all = __ballot_sync(~0u, value > 0);
	int place = __popc(all & ((1u << threadIdx.x) - 1));
	if (value > 0)
		to[place] = value;
}

extern "C" __global__ void packed_bad(int *to, const int *from)
{
	int value = from[threadIdx.x];
	unsigned all = __ballot_sync(~0u, value > 0);
	int place = __popc(all & ((2u << threadIdx.x) - 1));
	if (value > 0)
		to[place] = value;
}

extern "C" __global__ void summed_good(int *to, const int *from)
{
	int sum = from[threadIdx.x];
	for (int by = 16; by > 0; by /= 2)
		sum += __shfl_down_sync(~0u, sum, by);
	if (threadIdx.x == 0)
		to[sum] = sum;
}

extern "C" __global__ void summed_bad(int *to, const int *from)
{
	int sum = from[threadIdx.x];
	for (int by = 16; by > 0; by /= 2)
		sum += __shfl_xor_sync(~0u, sum, by);
	to[sum + threadIdx.x / 31] = sum;
}

// A bin by a float; 1.0 itself falls behind the last bin.
extern "C" __global__ void binned_good(int *bins, const float *from, int n)
{
	int bin = min((int)(from[threadIdx.x] * n), n - 1);
	atomicAdd(&bins[bin], 1);
}

extern "C" __global__ void binned_bad(int *bins, const float *from, int n)
{
	int bin = (int)(from[threadIdx.x] * n);
	atomicAdd(&bins[bin], 1);
}

extern "C" __global__ void switched_good(int *to, int n)
{
	int at;
	switch (to[threadIdx.x]) {
	case 0:
		at = 0;
		break;
	case 1:
		at = n - 1;
		break;
	case 2:
		at = n / 2;
		break;
	case 3:
		at = n % 3;
		break;
	case 4:
		at = n >> 2;
		break;
	case 5:
		at = threadIdx.x;
		break;
	default:
		return;
	}
	to[at] = 9;
}

extern "C" __global__ void switched_bad(int *to, int n)
{
	int at;
	switch (to[threadIdx.x]) {
	case 0:
		at = 0;
		break;
	case 1:
		at = n;
		break;
	case 2:
		at = n / 2;
		break;
	case 3:
		at = -(n % 3);
		break;
	case 4:
		at = n << 2;
		break;
	case 5:
		at = threadIdx.x;
		break;
	default:
		return;
	}
	to[at] = 9;
}
