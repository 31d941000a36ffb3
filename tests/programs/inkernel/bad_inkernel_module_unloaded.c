// expect: heap-buffer-overflow size 60 offset +0
// suspect: d_flip
/* The module whose kernel did it goes at once, and leaves its buffers to another one. */
#include "inkernel.h"

int main(void)
{
	long long index = 9, size = 60, one = 1;
	CUmodule another = ik_another();
	CUdeviceptr p = ik_alloc_of(another, 20, size, 0);

	tk_launch(tk_kernel_of(another, "d_flip"), 1, 1, NULL, TK_ARGS(&p, &index, &size, &one));
	CK(cuModuleUnload(another));
	ik_free(p, 20, 0);
	tk_sync();
}
