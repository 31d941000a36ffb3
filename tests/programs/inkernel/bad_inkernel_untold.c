// expect: heap-buffer-overflow size 77 offset +0
// suspect: d_flip
// sim-env: SIM_FAIL=cuModuleGetGlobal_v2:1
// skip-on: gpu
/* The first of two modules cannot be told of the heap: the other one's guard kernel looks after it. */
#include "inkernel.h"

int main(void)
{
	long long count = 20, index = 3, size = 77, one = 1;
	CUmodule other;
	CUdeviceptr p;

	ik_start();
	other = ik_another();
	p = ik_alloc_of(other, count, size, 0);
	tk_launch(tk_kernel_of(other, "d_flip"), 1, 1, NULL, TK_ARGS(&p, &index, &size, &one));
	tk_sync();
}
