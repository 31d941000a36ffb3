// under unified: expect: post-mortem
// under unified: exit: 3
/*
 * Reads 187 KB past the end, and nobody looks at the sum: natively that is the rest of the 4 MiB that the driver took.
 * With backend=unified it is nobody's.
 */
#include "make_buffer.h"

enum { SIZE = 3 << 20 };

int main(void)
{
	CUdeviceptr p = make_buffer(SIZE), sum = make_buffer(8), behind = p + SIZE;
	long long words = 187 * 1024 / 4;

	tk_launch(tk_kernel("k_sum"), 8, 128, NULL, TK_ARGS(&sum, &behind, &words));
	tk_sync();
	CK(cuMemFree(p));
	CK(cuMemFree(sum));
	puts("done");
}
