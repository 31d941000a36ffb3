// case: good_pool_unifying_stream 0
// case: bad_pool_unifying_stream 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* A buffer was used in two streams: a third one waits for both and frees it, as PyTorch's asynchronous allocator does.
 */
#include "pooled.h"

int main(void)
{
	CUstream home = tk_stream(), guest = tk_stream(), unifying = tk_stream();

	for (int i = 0; i < 10; i++) {
		CUdeviceptr p = make_pooled(SIZE, home);

		flip_end(p, SIZE, home, i == 5 ? CASE : 0);
		order(home, guest);
		tk_spin(guest, 1);
		flip_end(p, SIZE, guest, 0);
		order(home, unifying);
		order(guest, unifying);
		CK(cuMemFreeAsync(p, unifying));
	}
	tk_sync();
	puts("done");
}
