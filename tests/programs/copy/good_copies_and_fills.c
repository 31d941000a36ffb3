/* Every plain copy and fill, each over the whole of a buffer of an odd size. */
#include "testkit.h"

#define N 4012

static unsigned char host[N], back[N];

static void check(const char *what, CUdeviceptr p)
{
	unsigned sum = 0;

	CK(cuMemcpyDtoH(back, p, N));
	for (int i = 0; i < N; i++)
		sum = sum * 31 + back[i];
	printf("%s: %08x\n", what, sum);
}

int main(void)
{
	CUdeviceptr p = tk_alloc(N);
	CUdeviceptr q = tk_alloc(N);

	for (int i = 0; i < N; i++)
		host[i] = (unsigned char)(i * i);
	CK(cuMemsetD8(p, 1, N));
	check("fill bytes", p);
	CK(cuMemsetD16(p, 0x1234, N / 2));
	check("fill shorts", p);
	CK(cuMemsetD32(p, 0x12345678, N / 4));
	check("fill words", p);
	CK(cuMemsetD8Async(p, 2, N, NULL));
	CK(cuMemsetD32Async(p, 3, N / 4 - 1, NULL));
	check("fill later", p);
	CK(cuMemcpyHtoD(p, host, N));
	check("to the device", p);
	CK(cuMemcpyDtoD(q, p, N));
	check("between", q);
	CK(cuMemsetD8(q, 0, N));
	CK(cuMemcpy(q, p, N));
	check("either way", q);
	CK(cuMemcpyHtoDAsync(p, host, N, NULL));
	CK(cuMemcpyDtoDAsync(q, p, N, NULL));
	CK(cuMemcpyAsync(p + 1, q, N - 1, NULL));
	check("later", p);
	CK(cuMemcpyHtoD(p + N - 1, host, 1));
	CK(cuMemcpyHtoD(p + N - 1, host, 0));
	check("the last byte", p);
	CK(cuMemFree(p));
	CK(cuMemFree(q));
}
