// expect: double-free size 1000
// options: max_overhead=100
/* Freed by cuMemFree while its stream is held up, and once more: what the driver has yet to be given is nobody's. */
#include "pooled.h"

int main(void)
{
	volatile int *go_on = hold(CU_STREAM_LEGACY);
	CUdeviceptr p = make_pooled(SIZE, CU_STREAM_LEGACY);

	tk_spin(CU_STREAM_LEGACY, 0);
	CK(cuMemFree(p));
	EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	*go_on = 1;
	tk_sync();
}
