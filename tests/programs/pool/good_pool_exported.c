// case: good_pool_exported 0
// case: bad_pool_exported 1 => heap-buffer-overflow size 1001 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/* Memory of a pool that other processes may import is left alone; beside it memory of another pool goes on. */
#include "pooled.h"

int main(void)
{
	CUmemoryPool pool = new_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	CUstream stream = tk_stream();
	CUdeviceptr p = make_from(pool, SIZE, stream);
	int fd = -1;

	CK(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	REQUIRE(close(fd) == 0);
	flip_end(p, SIZE, stream, CASE);
	CK(cuMemFreeAsync(p, stream));
	use_once(SIZE + 1, stream, CASE);
	CK(cuStreamSynchronize(stream));
	CK(cuMemPoolDestroy(pool));
	puts("done");
}
