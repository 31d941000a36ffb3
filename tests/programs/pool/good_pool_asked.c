// case: good_pool_asked 0
// case: bad_pool_asked 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* What is said of a buffer in stream order, before its first use and after it, is what was asked for. */
#include "pooled.h"

enum { BUFFERS = 8, EACH = (1 << 20) - 100 };

static void say(CUdeviceptr p)
{
	CUdeviceptr base, start;
	size_t size, range;

	CK(cuMemGetAddressRange(&base, &size, p + EACH - 1));
	CK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + EACH - 1));
	CK(cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + EACH - 1));
	printf("starts there: %d %d, bytes: %zu %zu\n", base == p, start == p, size, range);
}

static void uses(CUmemoryPool pool, size_t bytes)
{
	cuuint64_t used = pool_says(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);

	REQUIRE(used == bytes);
	REQUIRE(pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= used);
}

int main(void)
{
	CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
	CUstream stream = tk_stream();
	CUdeviceptr p[BUFFERS];

	for (int i = 0; i < BUFFERS; i++)
		p[i] = make_from(pool, EACH, stream);
	say(p[0]);
	uses(pool, BUFFERS * EACH);
	for (int i = 0; i < BUFFERS; i++)
		flip_end(p[i], EACH, stream, 0);
	say(p[0]);
	uses(pool, BUFFERS * EACH);
	for (int i = 0; i < BUFFERS; i++)
		CK(cuMemFreeAsync(p[i], stream));
	CK(cuStreamSynchronize(stream));
	uses(pool, 0);
	printf("used in the end: %llu\n", (unsigned long long)pool_says(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
	use_once(SIZE, stream, CASE);
	CK(cuStreamSynchronize(stream));
	CK(cuMemPoolDestroy(pool));
}
