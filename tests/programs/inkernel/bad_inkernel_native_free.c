// expect: double-free size 200
// expect: use-after-free size 200 offset +10
// expect: 3 x invalid-free
// options: device_heap=native:device_free_delay=1000
/* Frees that are wrong, and a write after one, in CUDA's own heap. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p, other;

	ik_start();
	CK(cuMemAlloc(&other, 4096));
	p = ik_alloc(50, 200);
	tk_launch(ik_kernel("d_free_same"), 1, 2, NULL, TK_ARGS(&p));
	ik_flip(p, 0, 10, 1);
	tk_launch(ik_kernel("d_free_foreign"), 1, 1, NULL, TK_ARGS(&other));
	tk_sync();
}
