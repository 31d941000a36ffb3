// case: good_pool_destroyed 0
// case: bad_pool_destroyed 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* A pool is destroyed while a buffer of it lives, which goes on being used, and is freed later. */
#include "pooled.h"

int main(void)
{
	for (int i = 0; i < 10; i++) {
		CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_NONE);
		CUstream stream = tk_stream();
		CUdeviceptr p;

		CK(cuDeviceSetMemPool(tk_device, pool));
		p = make_pooled(SIZE, stream);
		flip_end(p, SIZE, stream, 0);
		CK(cuMemPoolDestroy(pool));
		flip_end(p, SIZE, stream, i == 5 ? CASE : 0);
		CK(cuMemFreeAsync(p, stream));
		CK(cuStreamSynchronize(stream));
		CK(cuStreamDestroy(stream));
	}
	puts("done");
}
