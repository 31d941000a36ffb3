// case: good_pool_exported 0
// case: bad_pool_exported 1 => heap-buffer-overflow size 1001 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/*
 * Memory of a pool that other processes may import is left alone; beside it memory of another pool goes on, also when
 * more of the first kind have come and gone than GMOD knows at a time.
 */
#include "pooled.h"

enum { ROUNDS = 5, AT_A_TIME = 8 };

int main(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		CUmemoryPool old[AT_A_TIME];

		for (int i = 0; i < AT_A_TIME; i++)
			old[i] = new_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
		for (int i = 0; i < AT_A_TIME; i++)
			CK(cuMemPoolDestroy(old[i]));
	}

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
