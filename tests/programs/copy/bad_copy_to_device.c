// expect: api-out-of-bounds size 4000 in make_buffer
/* A copy from the host, one byte too long. The driver refuses it, as it does natively; the report says why. */
#include "make_buffer.h"

int main(void)
{
	static char host[8192];
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	EXPECT(cuMemcpyHtoD(p, host, 4001), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(p));
	return 0;
}
