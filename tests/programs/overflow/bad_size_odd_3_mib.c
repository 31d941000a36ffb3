// expect: heap-buffer-overflow size 3145733 offset +0 in make_buffer
// suspect: k_flip
/* A large buffer, natively aligned to 2 MiB, of an odd size. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(3145733);
	tk_sync(); /* the canaries beside it, too, have arrived */
	tk_flip(p, 3145733, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
