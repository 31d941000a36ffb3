// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip
// options: scan_interval_us=60000000
// sim-env: SIM_MEMORY=67108864
// skip-on: gpu
/* The device has not a byte left when a buffer is freed that a kernel is still to overrun. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(3000), filling;

	tk_flip(p, 0, 4);
	for (size_t size = 2 << 20; size; size /= 8)
		while (cuMemAlloc(&filling, size) == CUDA_SUCCESS)
			;
	tk_spin(NULL, 50);
	tk_flip(p, 3000, 4);
	CK(cuMemFree(p));
}
