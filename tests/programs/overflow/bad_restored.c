// case: bad_restored 4096 => heap-buffer-overflow size 4096 offset +0 in make_buffer
// case: bad_underflow_restored -8 => heap-buffer-underflow size 4096 offset -8 in make_buffer
// case: bad_restored_managed 4096 =>
//    heap-buffer-overflow size 4096 offset +0 in make_buffer; options: backend=managed
// case: bad_underflow_restored_managed -8 =>
//    heap-buffer-underflow size 4096 offset -8 in make_buffer; options: backend=managed
// suspect: k_flip_until
/* Bytes behind the end, or before the start, changed for a while, then put back. */
#include "flip_restore.h"
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(4096);

	flip_and_restore(p, CASE, 8);
	CK(cuMemFree(p));
}
