/*
 * All that a translation unit may do with gmod_device.cuh, for language.sh: nvcc compiles it in several languages, with
 * other headers BEFORE and AFTER, NVRTC what is no host code. Run, it tests what host code gets.
 */
#if defined(__CUDACC_RTC__)
#define HOST_TOO 0
#else
#define HOST_TOO 1
#endif

#if defined(BEFORE)
#if HOST_TOO
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <new>
#include <vector>
#endif
#if __cplusplus >= 201703L
#include <cuda/std/cstdlib>
#endif
#if defined(CCCL)
#if HOST_TOO
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#endif
#include <cuda/std/optional>
#endif
static __device__ void *early(size_t size)
{
	return malloc(size);
}
#endif

#if !defined(NO_REPLACE)
#define GMOD_REPLACE_DEVICE_MALLOC
#endif
#include <gmod_device.cuh>

#if !defined(BEFORE)
#if HOST_TOO
#include <malloc.h>
#include <memory>
#include <new>
#include <vector>
#endif
#if __cplusplus >= 201703L
#include <cuda/std/cstdlib>
#endif
#if defined(CCCL)
#if HOST_TOO
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#endif
#include <cuda/std/optional>
#endif
static __device__ void *early(size_t size)
{
	return malloc(size);
}
#endif

struct pool {
	int taken, given;

	__host__ __device__ void *malloc(size_t size)
	{
		taken += (int)size;
		return this;
	}
	__host__ __device__ void free(void *p)
	{
		given += p == this;
	}
};

struct point {
	int x;
	__host__ __device__ explicit point(int x) : x(x)
	{
	}
	__host__ __device__ virtual ~point()
	{
	}
};

/* All of the functions of GMOD's own, on either side. */
static __host__ __device__ bool own_functions(pool *pool)
{
	char *p = (char *)mallocN(10), *q = (char *)callocN(5, 3), *r = (char *)aligned_allocN(16, 100);
	bool good = p && q && r && sizeN(p) >= 10 && !q[0] && !q[14] && sizeN(0) == 0;

	if (p)
		p[0] = 7;
	p = (char *)reallocN(p, 1000);
	good = good && p && p[0] == 7 && sizeN(p) >= 1000 && (p = (char *)reallocN(p, 0)) && !mallocN(~(size_t)0 - 3);
	good = good && whyN(16, ~(size_t)0 - 3) == GMOD_IMPOSSIBLE && whyN(24, 8) == GMOD_IMPOSSIBLE &&
	       whyN(16, 8) == GMOD_NO_MEMORY && !callocN(~(size_t)0 / 2, 3) && !aligned_allocN(24, 8);
	pool->free(pool->malloc(3));
	freeN(p);
	freeN(q);
	freeN(r);
	freeN(0);
	return good;
}

/* Those that may be replaced. */
static __host__ __device__ int others(int n)
{
	char *p = (char *)malloc((size_t)n), *q = (char *)::malloc(sizeof(int));
	point *one = new point(n), *more = (point *)operator new[](sizeof(point) * 2);
	int x = p && q && one && more ? one->x : -1;

	free(p);
	::free(q);
	delete one;
	operator delete[](more);
	return x;
}

__global__ void k_own(pool *pools, int *good)
{
	good[threadIdx.x] = own_functions(&pools[threadIdx.x]);
}

__global__ void k_others(int *out, void **early_out)
{
	out[threadIdx.x] = others((int)threadIdx.x);
	early_out[threadIdx.x] = early(threadIdx.x);
}

#if defined(__cpp_aligned_new)
struct alignas(128) line {
	char bytes[128];
};

__global__ void k_aligned(line **out)
{
	delete out[threadIdx.x];
	out[threadIdx.x] = threadIdx.x % 2 ? new line : new line[3];
}
#endif

#if __cplusplus >= 201703L && !defined(NO_REPLACE)
__global__ void k_aligned_by_name(void **out)
{
	cuda::std::free(out[threadIdx.x]);
	out[threadIdx.x] = cuda::std::aligned_alloc(256, 64);
}
#endif

#if HOST_TOO
#if !defined(NO_REPLACE)
static __host__ __device__ int no_throw(int n)
{
	std::nothrow_t quiet;
	point *p = new (quiet) point(n);
	int x = p ? p->x : -1;

	delete p;
	p = (point *)std::malloc(sizeof(point));
	std::free(p);
	return x;
}

__global__ void k_no_throw(int *out)
{
	out[threadIdx.x] = no_throw((int)threadIdx.x);
}
#endif

int main()
{
	std::vector<std::unique_ptr<point>> points;
	pool own = {0, 0};
	bool good = own_functions(&own) && own.given == 1 && own.taken == 3 && others(5) == 5;
	void *p = aligned_allocN(4096, 10);

	points.emplace_back(new point(1));
	good = good && p && (size_t)p % 4096 == 0 && sizeN(p) >= 10;
	freeN(p);
	free(mallocN(10)); /* the host's own, both */
#if !defined(NO_REPLACE)
	good = good && no_throw(6) == 6;
#endif
	return good ? 0 : 1;
}
#endif
