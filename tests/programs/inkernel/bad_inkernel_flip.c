// case: bad_inkernel_overflow 300, 100, 0, {{123, 100, 1}} => heap-buffer-overflow size 100 offset +0
// case: bad_inkernel_underflow 40, 64, 0, {{7, -1, 1}} => heap-buffer-underflow size 64 offset -1
// case: bad_inkernel_far_behind 64, 2049, 0, {{33, 2249, 4}} => heap-buffer-overflow size 2049 offset +200
// case: bad_inkernel_large 5, 204800, 0, {{1, 204807, 3}, {3, -3, 2}} =>
//    heap-buffer-overflow size 204800 offset +7; heap-buffer-underflow size 204800 offset -3
// case: bad_inkernel_one_byte 18, 0, 1, {{1, 1, 1}, {15, 15, 1}, {16, 16, 1}, {17, 17, 1}} =>
//    heap-buffer-overflow size 1 offset +0; heap-buffer-overflow size 15 offset +0;
//    heap-buffer-overflow size 16 offset +0; heap-buffer-overflow size 17 offset +0
// case: bad_inkernel_one_byte_before 31, 0, 1, {{1, -1, 1}, {16, -8, 1}, {17, -9, 1}, {30, -16, 1}} =>
//    heap-buffer-underflow size 1 offset -1; heap-buffer-underflow size 16 offset -8;
//    heap-buffer-underflow size 17 offset -9; heap-buffer-underflow size 30 offset -16
// suspect: d_flip
/*
 * Bytes beside some of many buffers that a kernel allocated: the very next one, behind buffers that end in all places
 * of a word; some way behind, where the block has room that nobody uses; before, near and far, in what is the buffer's
 * own. In blocks, and in buffers larger than any block.
 */
#include "inkernel.h"

static const struct {
	long long count, size, step;
	struct flip {
		long long index, off, count;
	} flips[4];
} it = {CASE};

int main(void)
{
	CUdeviceptr p = ik_alloc_sizes(it.count, it.size, it.step);

	tk_sync();
	for (const struct flip *f = it.flips; f < it.flips + 4 && f->count; f++)
		ik_flip(p, f->index, f->off, f->count);
	tk_sync();
	ik_free(p, it.count, 0);
	tk_sync();
}
