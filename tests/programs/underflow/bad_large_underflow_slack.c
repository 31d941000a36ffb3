// expect: heap-buffer-underflow size 3000000 offset -300 in make_buffer
// suspect: k_flip
/*
 * Before a large buffer that does not fill its granules there is device memory, which only a copy can look at; what
 * copies look at before the buffer is freed is nearer, and says nothing of it.
 */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(3000000);
	tk_sync(); /* the canaries beside it, too, have arrived */
	tk_flip(p, -300, 30);
	tk_sync();
	tk_sleep_ms(300);
	CK(cuMemFree(p));
	return 0;
}
