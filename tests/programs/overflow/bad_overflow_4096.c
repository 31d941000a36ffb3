// expect: heap-buffer-overflow size 5000 offset +0 in make_buffer
// suspect: k_flip
/* A whole page past the end. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(5000);
	tk_flip(p, 5000, 4096);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
