/* 16-byte loads whose second half lies past the end: reading there is harmless natively, and is here. */
#include "testkit.h"

int main(void)
{
	static const long long sizes[] = {1, 8, 24, 1000, 4088, 4096 + 8};
	CUdeviceptr p;
	CUdeviceptr sum = tk_alloc(8);

	for (int s = 0; s < 6; s++) {
		long long last = (sizes[s] - 1) / 16 * 16;

		CK(cuMemAlloc(&p, sizes[s]));
		CK(cuMemsetD8(p, 1, sizes[s]));
		for (int i = 0; i < 20; i++)
			tk_launch(tk_kernel("k_read_wide"), 1, 1, NULL, TK_ARGS(&p, &last, &sum));
		CK(cuMemFree(p));
	}
	CK(cuMemFree(sum));
	puts("read");
}
