/* The range of an allocation is what was asked for, to the byte; what lies between two of them is nobody's. */
#include "testkit.h"

static void tell(CUdeviceptr base, CUdeviceptr at)
{
	CUdeviceptr start = 0;
	size_t size = 0;
	CUresult r = cuMemGetAddressRange(&start, &size, at);

	if (r == CUDA_SUCCESS)
		printf("%+lld: starts %+lld, %zu bytes\n", (long long)(at - base), (long long)(start - base), size);
	else
		printf("%+lld: %s\n", (long long)(at - base), tk_error_name(r));
}

int main(void)
{
	static const size_t sizes[] = {1, 100, 4096, 5000, 1 << 20, 3 << 20};
	CUdeviceptr p, start;
	size_t size;

	tk_start();
	for (int s = 0; s < 6; s++) {
		CK(cuMemAlloc(&p, sizes[s]));
		REQUIRE(p % 256 == 0);
		tell(p, p);
		tell(p, p + sizes[s] / 2);
		tell(p, p + sizes[s] - 1);
		CK(cuMemGetAddressRange(&start, NULL, p));
		CK(cuMemGetAddressRange(NULL, &size, p));
		REQUIRE(start == p && size == sizes[s]);
		CK(cuMemFree(p));
	}
	CK(cuMemAlloc(&p, 5000));
	tell(p, p + 5000);
	CK(cuMemFree(p));
}
