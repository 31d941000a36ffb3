// expect: api-out-of-bounds size 4000 in make_buffer
/* A memset of the rounded size. The driver refuses it, as it does natively; the report says why. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	EXPECT(cuMemsetD8(p, 7, 4096), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(p));
	return 0;
}
