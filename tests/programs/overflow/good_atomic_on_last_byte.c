/* Four-byte atomics where less than four bytes are the program's: natively within the buffer's granule, and here they
 * write the neighbouring bytes back as they were. */
#include "testkit.h"

int main(void)
{
	static const int sizes[] = {1, 5, 7, 4093, 4097};
	unsigned char last;
	CUdeviceptr p;

	tk_start();
	for (int s = 0; s < 5; s++) {
		long long word = (sizes[s] - 1) / 4 * 4;

		CK(cuMemAlloc(&p, sizes[s]));
		CK(cuMemsetD8(p, 0, sizes[s]));
		tk_launch(tk_kernel("k_atomic_add"), 3, 64, NULL, TK_ARGS(&p, &word));
		CK(cuMemcpyDtoH(&last, p + word, 1));
		printf("%d bytes: counted to %d\n", sizes[s], last);
		CK(cuMemFree(p));
	}
}
