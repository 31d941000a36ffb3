// case: good_pool_record_stream 0
// case: bad_pool_record_stream 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* A buffer of one stream is used in another one, between two events, and freed where it was allocated: what PyTorch's
 * record_stream takes care of. */
#include "pooled.h"

int main(void)
{
	CUstream home = tk_stream(), guest = tk_stream();

	for (int i = 0; i < 10; i++) {
		CUdeviceptr p = make_pooled(SIZE, home);

		flip_end(p, SIZE, home, 0);
		order(home, guest);
		tk_spin(guest, 1);
		flip_end(p, SIZE, guest, i == 5 ? CASE : 0);
		order(guest, home);
		CK(cuMemFreeAsync(p, home));
	}
	tk_sync();
	puts("done");
}
