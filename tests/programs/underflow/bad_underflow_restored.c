// expect: heap-buffer-underflow size 4096 offset -8 in make_buffer
// suspect: k_flip_until
// options: small_mapped=0
/* The bytes before the start, changed for a while and put back. */
#include "flip_restore.h"
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4096);
	flip_and_restore(p, -8, 8);
	CK(cuMemFree(p));
	return 0;
}
