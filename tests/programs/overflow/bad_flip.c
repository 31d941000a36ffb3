// case: bad_overflow_1 make_buffer, 4000, 4000, 1 => heap-buffer-overflow size 4000 offset +0 in make_buffer
// case: bad_overflow_1_at_page_end make_buffer, 4096, 4096, 1 =>
//    heap-buffer-overflow size 4096 offset +0 in make_buffer
// case: bad_overflow_4 make_buffer, 1000, 1000, 4 => heap-buffer-overflow size 1000 offset +0 in make_buffer
// case: bad_overflow_255 make_buffer, 511, 511, 255 => heap-buffer-overflow size 511 offset +0 in make_buffer
// case: bad_overflow_256 make_buffer, 12345, 12345, 256 => heap-buffer-overflow size 12345 offset +0 in make_buffer
// case: bad_overflow_4096 make_buffer, 5000, 5000, 4096 => heap-buffer-overflow size 5000 offset +0 in make_buffer
// case: bad_overflow_behind_rounding make_buffer, 100, 356, 1 =>
//    heap-buffer-overflow size 100 offset +256 in make_buffer
// case: bad_underflow_1 make_buffer, 4096, -1, 1 => heap-buffer-underflow size 4096 offset -1 in make_buffer
// case: bad_underflow_4 make_buffer, 4000, -4, 4 => heap-buffer-underflow size 4000 offset -4 in make_buffer
// case: bad_underflow_256 make_buffer, 1000, -256, 256 => heap-buffer-underflow size 1000 offset -256 in make_buffer
// case: bad_underflow_4096 make_buffer, 300, -4096, 4096 =>
//    heap-buffer-underflow size 300 offset -512 in make_buffer;
//    under managed: heap-buffer-underflow size 300 offset -4096 in make_buffer
// case: bad_size_1 make_buffer, 1, 1, 1 => heap-buffer-overflow size 1 offset +0 in make_buffer
// case: bad_size_1_mib make_buffer, MIB, MIB, 1 => heap-buffer-overflow size 1048576 offset +0 in make_buffer
// case: bad_size_1_gib make_buffer, GIB, GIB, 1 =>
//    heap-buffer-overflow size 1073741824 offset +0 in make_buffer; sim-env: SIM_MEMORY=4294967296
// case: bad_large_underflow_1 make_buffer, 4 * MIB, -1, 1 =>
//    heap-buffer-underflow size 4194304 offset -1 in make_buffer; under device: 0 x heap-buffer-underflow; skip-on: gpu
// case: bad_managed make_managed, 6000, 6000, 8 => heap-buffer-overflow size 6000 offset +0 in make_managed
// case: bad_managed_underflow make_managed, 4096, -8, 8 => heap-buffer-underflow size 4096 offset -8 in make_managed
// case: bad_exit_on_findings make_buffer, 4000, 4000, 1 =>
//    heap-buffer-overflow size 4000 offset +0 in make_buffer; options: exit_on_findings=1; exit: 86
// suspect: k_flip
/*
 * Some bytes past the end, or before the start, of buffers of many sizes: of no multiple of anything, of a page, of
 * whole granules of 2 MiB, behind which lies another page. What lies before a large one is the driver's, and what is
 * done to it remains unseen, or on a GPU is a fault, by what is mapped there. The last one means to succeed.
 */
#include "make_buffer.h"

enum { MIB = 1 << 20, GIB = 1 << 30 };

static void overrun(CUdeviceptr (*make)(size_t), size_t size, long long off, long long count)
{
	CUdeviceptr p = make(size);

	tk_flip(p, off, count);
	tk_sync();
	CK(cuMemFree(p));
}

int main(void)
{
	tk_start();
	overrun(CASE);
}
