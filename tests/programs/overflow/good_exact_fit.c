/* Every byte of a buffer is written and none beyond, for sizes of all kinds, by kernels, copies and fills. */
#include "testkit.h"

static const size_t sizes[] = {1,     2,      3,       4,       5,       7,       8,       15,     16,
			       17,    255,    256,     257,     511,     512,     513,     1000,   4000,
			       4095,  4096,   4097,    8191,    8192,    12345,   65535,   65536,  65537,
			       99999, 262144, 1048575, 1048576, 1048577, 2097151, 2097152, 2097153};

int main(void)
{
	static unsigned char host[2097153];
	unsigned long long sum = 0;
	CUdeviceptr p;

	tk_start();
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		size_t n = sizes[s];

		CK(cuMemAlloc(&p, n));
		CK(cuMemsetD8(p, (unsigned char)s, n));
		tk_flip(p, 0, (long long)n);
		memset(host, 0, sizeof(host));
		CK(cuMemcpyDtoH(host, p, n));
		for (size_t i = 0; i < n; i++)
			sum += (host[i] ^ 0x5a) == s;
		CK(cuMemcpyHtoD(p, host, n));
		CK(cuMemFree(p));
	}
	printf("%llu bytes right\n", sum);
}
