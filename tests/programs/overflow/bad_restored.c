// expect: heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip_until
/* Changed for a while, then put back. */
#include "flip_restore.h"
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4096);
	flip_and_restore(p, 4096, 8);
	CK(cuMemFree(p));
	return 0;
}
