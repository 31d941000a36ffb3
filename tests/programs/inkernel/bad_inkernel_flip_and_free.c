// case: bad_inkernel_found_at_release "d_flip_and_free", 100, 24, 60, 31 =>
//    heap-buffer-overflow size 24 offset +7; suspect: d_flip_and_free
// case: bad_inkernel_overflow_after_free "d_free_and_flip", 20, 64, 0, 65 =>
//    heap-buffer-overflow size 64 offset +1; suspect: d_free_and_flip; options: device_free_delay=1000
// case: bad_inkernel_write_after_own_free "d_free_and_flip", 20, 33, 4, 32 =>
//    use-after-free size 33 offset +32; suspect: d_free_and_flip; options: device_free_delay=1000
/*
 * The kernel frees the buffer right after it has written behind it; it writes behind a buffer that has been freed,
 * whose canaries outlive it, and to the last byte of one that it has freed itself.
 */
#include "inkernel.h"

static void flip_and_free(const char *kernel, long long count, long long size, long long index, long long off)
{
	CUdeviceptr p = ik_alloc(count, size);

	tk_launch(ik_kernel(kernel), 1, 32, NULL, TK_ARGS(&p, &index, &off));
	tk_sync();
}

int main(void)
{
	ik_start();
	flip_and_free(CASE);
}
