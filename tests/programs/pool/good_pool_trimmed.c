// case: good_pool_trimmed 0
// case: bad_pool_trimmed 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* All that a pool keeps is given back between one use of it and the next; its addresses may not be there any more. */
#include "pooled.h"

int main(void)
{
	CUmemoryPool pool = default_pool();
	cuuint64_t all = UINT64_MAX;
	CUstream stream = tk_stream();

	CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	for (int i = 0; i < 10; i++) {
		use_once(SIZE, stream, i == 5 ? CASE : 0);
		CK(cuMemPoolTrimTo(pool, 0)); /* which the free may keep from it */
		CK(cuStreamSynchronize(stream));
		CK(cuMemPoolTrimTo(pool, 0));
		REQUIRE(pool_says(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
		REQUIRE(pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
	}
	puts("done");
}
