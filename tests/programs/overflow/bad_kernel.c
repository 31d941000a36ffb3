// case: bad_overflow_atomic "k_atomic_add", 1, 32, 4000, 4000 =>
//    heap-buffer-overflow size 4000 offset +0 in make_buffer; suspect: k_atomic_add
// case: bad_overflow_atomic_page_end "k_atomic_add", 2, 64, 8192, 8256 =>
//    heap-buffer-overflow size 8192 offset +64 in make_buffer; suspect: k_atomic_add
// case: bad_underflow_atomic "k_atomic_add", 1, 32, 4000, -4 =>
//    heap-buffer-underflow size 4000 offset -4 in make_buffer; suspect: k_atomic_add
// case: bad_overflow_vector_straddle "k_store16", 1, 1, 4008, 4000 =>
//    heap-buffer-overflow size 4008 offset +0 in make_buffer; suspect: k_store16
// case: bad_underflow_vector "k_store16", 1, 1, 100, -16 =>
//    heap-buffer-underflow size 100 offset -16 in make_buffer; suspect: k_store16
/*
 * Threads count into the word behind the last, or before the first, in the rounding behind a buffer and on a canary of
 * the host. A 16-byte store, half of which lies inside the buffer, or that ends where the buffer starts.
 */
#include "make_buffer.h"

static void overrun(const char *kernel, unsigned blocks, unsigned threads, size_t size, long long off)
{
	CUdeviceptr p = make_buffer(size);

	tk_launch(tk_kernel(kernel), blocks, threads, NULL, TK_ARGS(&p, &off));
	tk_sync();
	CK(cuMemFree(p));
}

int main(void)
{
	tk_start();
	overrun(CASE);
}
