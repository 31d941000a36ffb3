// case: bad_inkernel_double_free_at_once 48, 4, 32 =>
//    127 x double-free size 48; options: device_free_delay=1000:max_reports=200
// case: bad_inkernel_double_free_in_warp 1000, 1, 2 => double-free size 1000; options: device_free_delay=1000
/*
 * Four warps, each in a block of its own, free one buffer at once: one of the 128 threads frees it. Two threads of a
 * warp believe that the buffer is theirs.
 */
#include "inkernel.h"

static void free_at_once(long long size, unsigned blocks, unsigned threads)
{
	CUdeviceptr p = ik_alloc(32, size);

	tk_launch(ik_kernel("d_free_same"), blocks, threads, NULL, TK_ARGS(&p));
	tk_sync();
}

int main(void)
{
	ik_start();
	free_at_once(CASE);
}
