/*
 * Functions that are both host's and device's allocate and free by every name there is, on each side what is that
 * side's. A pool's own members called malloc and free are left alone.
 */
#include "runtime.cuh"

#include <memory>
#include <vector>

#define GMOD_REPLACE_DEVICE_MALLOC
#include "include/gmod_device.cuh"

struct pool {
	char bytes[64];
	int taken, given;

	__host__ __device__ void *malloc(size_t size)
	{
		return bytes + (taken += (int)size) - (int)size;
	}
	__host__ __device__ void free(void *p)
	{
		given += p >= bytes && p < bytes + sizeof(bytes);
	}
};

struct point {
	int x;
	__host__ __device__ explicit point(int x) : x(x)
	{
	}
};

/* 1 where p has n bytes of c. */
static __host__ __device__ int filled(const char *p, size_t n, char c)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != c)
			return 0;
	return 1;
}

static __host__ __device__ int use(int i)
{
	pool own = {}, *pool = &own;
	int good = 0;
	char *p = (char *)mallocN(10 + i), *q = (char *)callocN(i, 3), *r = (char *)std::malloc(20 + i);
	point *one = new point(i), *other = new (std::nothrow_t{}) point(i + 1), *array = (point *)operator new[](8);

	if (!p || !q || !r || !one || !other || !array)
		return -1;
	for (int k = 0; k < 10 + i; k++)
		p[k] = (char)i;
	good += sizeN(p) >= (size_t)(10 + i) && filled(q, 3 * i, 0) && one->x + 1 == other->x;
	p = (char *)reallocN(p, 1000);
	good += p && sizeN(p) >= 1000 && filled(p, 10 + i, (char)i);
	p = (char *)reallocN(p, 5);
	good += p && filled(p, 5, (char)i) && whyN(16, ~(size_t)0 - 7) == GMOD_IMPOSSIBLE;
	pool->free(pool->malloc(8));
	good += pool->given;
	freeN(p);
	freeN(q);
	free(r);
	delete one;
	delete other;
	operator delete[](array);
	return good;
}

__global__ void rt_use(int *good)
{
	atomicAdd(good, use(threadIdx.x));
}

int main()
{
	std::vector<std::unique_ptr<int>> kept;
	int *good, result, here = 0;

	RT(cudaMalloc(&good, sizeof(*good)));
	RT(cudaMemset(good, 0, sizeof(*good)));
	rt_use<<<1, 100>>>(good);
	RT(cudaMemcpy(&result, good, sizeof(result), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 100; i++) {
		kept.emplace_back(new int(i));
		here += use(i);
	}
	printf("on the device %d, on the host %d\n", result, here);
	RT(cudaFree(good));
}
