// case: bad_overflow_stride 1000, 1024, 64, 16 => heap-buffer-overflow size 1000 offset +24 in make_buffer
// case: bad_overflow_stride_page 8192, 8392, 1000, 3 => heap-buffer-overflow size 8192 offset +200 in make_buffer
// case: bad_underflow_stride 4096, -400, 100, 4 => heap-buffer-underflow size 4096 offset -400 in make_buffer
// suspect: k_stride
/*
 * Every 64th byte past the end: most canary bytes stay as they are. Three single bytes, a thousand apart: column N+1 of
 * a matrix. Every 100th byte before the start.
 */
#include "make_buffer.h"

static void overrun(size_t size, long long first, long long stride, long long count)
{
	CUdeviceptr p = make_buffer(size);

	tk_launch_n(tk_kernel("k_stride"), count, NULL, TK_ARGS(&p, &first, &stride, &count));
	tk_sync();
	CK(cuMemFree(p));
}

int main(void)
{
	tk_start();
	overrun(CASE);
}
