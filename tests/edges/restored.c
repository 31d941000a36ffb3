/* Bytes are changed for 100 ms and put back, and the device stays in use for a while, so that this is seen. */
#include "make_buffer.h"

int main(void)
{
	long long off = 4096, count = 8;
	int ms = 100;
	CUdeviceptr p = make_buffer(4096);

	tk_launch(tk_kernel("k_flip_restore"), 1, 1, NULL, TK_ARGS(&p, &off, &count, &ms));
	tk_spin(NULL, 150);
	tk_sync();
	CK(cuMemFree(p));
}
