// expect: heap-buffer-overflow size 4008 offset +0 in make_buffer
// suspect: k_store16
/* One 16-byte store, its first half inside the buffer and its second half outside. */
#include "make_buffer.h"

int main(void)
{
	long long off = 4000;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4008);
	tk_launch(tk_kernel("k_store16"), 1, 1, NULL, TK_ARGS(&p, &off));
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
