/*
 * free_again [overflow|large]: a free that fails once: the buffer stays as it was, is still watched, and goes at the
 * second attempt. large: only the first attempt, of a buffer of 3 MiB.
 */
#include "make_buffer.h"

#include <stdbool.h>

static unsigned sum_of(CUdeviceptr p, size_t size)
{
	unsigned char host[4096];
	unsigned sum = 0;

	CK(cuMemcpyDtoH(host, p, size));
	for (size_t i = 0; i < size; i++)
		sum += host[i];
	return sum;
}

int main(int argc, char **argv)
{
	CUdeviceptr base = 0;
	size_t size = 0;
	bool large = argc > 1 && !strcmp(argv[1], "large");
	CUdeviceptr p = make_buffer(large ? 3 << 20 : 4096);

	CK(cuMemsetD8(p, 1, 4096));
	printf("the first time: %s\n", tk_error_name(cuMemFree(p)));
	if (large)
		return 0;
	tk_flip(p, 0, 4096);
	CK(cuMemGetAddressRange(&base, &size, p + 17));
	printf("%zu bytes from %lld, sum %u\n", size, (long long)(base - p), sum_of(p, 4096));
	if (argc > 1)
		tk_flip(p, 4097, 2);
	printf("the second time: %s\n", tk_error_name(cuMemFree(p)));
}
