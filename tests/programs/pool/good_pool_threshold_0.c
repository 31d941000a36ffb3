// case: good_pool_threshold_0 0
// case: bad_pool_threshold_0 1 => heap-buffer-overflow size 1000 offset +0 in make_from
// options: max_overhead=100
// suspect: k_flip
/* Where the program waits, the pool gives back what is free, and keeps what is not. */
#include "pooled.h"

int main(void)
{
	CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
	CUstream stream = tk_stream();
	CUdeviceptr kept = make_from(pool, SIZE, stream);

	flip_end(kept, SIZE, stream, 0);
	for (int i = 0; i < 10; i++) {
		CUdeviceptr p = make_from(pool, 5 << 20, stream);

		flip_end(p, 5 << 20, stream, 0);
		CK(cuMemFreeAsync(p, stream));
		CK(i % 2 ? cuCtxSynchronize() : cuStreamSynchronize(stream));
		flip_end(kept, SIZE, stream, i == 5 ? CASE : 0);
	}
	CK(cuMemFreeAsync(kept, stream));
	tk_sync();
	REQUIRE(pool_says(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
	CK(cuMemPoolDestroy(pool));
	puts("done");
}
