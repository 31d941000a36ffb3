// options: small_mapped=5
/* Small buffers come and go, some of them mapped, and are filled and copied. */
#include "testkit.h"

enum { BUFFERS = 8, ROUNDS = 30 };

static unsigned use(CUdeviceptr p, unsigned n)
{
	unsigned word = n, back = 0;

	CK(cuMemsetD8(p, (unsigned char)n, 4));
	CK(cuMemcpyDtoH(&back, p, sizeof(back)));
	CK(cuMemcpyHtoD(p, &word, sizeof(word)));
	CK(cuMemcpyDtoH(&word, p, sizeof(word)));
	return back ^ word;
}

int main(void)
{
	CUdeviceptr p[BUFFERS];
	unsigned sum = 0;

	tk_start();
	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < BUFFERS; i++)
			CK(cuMemAlloc(&p[i], 4 + i * 1111));
		for (unsigned i = 0; i < BUFFERS; i++)
			sum = sum * 31 + use(p[i], r + i);
		for (unsigned i = 0; i < BUFFERS; i++)
			CK(cuMemFree(p[i]));
	}
	printf("%u\n", sum);
}
