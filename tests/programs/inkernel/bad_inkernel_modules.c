// expect: heap-buffer-overflow size 77 offset +0
// suspect: d_flip
/* One module allocates, another one writes too far, a third one frees: they share the heap. */
#include "inkernel.h"

int main(void)
{
	long long count = 20, index = 11, size = 77, one = 1, none = 0;
	CUmodule another = ik_another();
	CUdeviceptr p = ik_alloc_of(ik_another(), count, size, 0);

	tk_launch(tk_kernel_of(another, "d_flip"), 1, 1, NULL, TK_ARGS(&p, &index, &size, &one));
	tk_launch_n(ik_kernel("d_free"), count, NULL, TK_ARGS(&p, &count, &none));
	tk_sync();
}
