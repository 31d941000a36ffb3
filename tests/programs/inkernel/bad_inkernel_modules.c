// case: bad_inkernel_modules 3
// case: bad_inkernel_many_modules 70
// expect: heap-buffer-overflow size 77 offset +0
// suspect: d_flip
/* The last of some modules allocates, the one before writes too far, the first one frees: they share the heap. */
#include "inkernel.h"

int main(void)
{
	long long count = 20, index = 11, size = 77, one = 1, none = 0;
	CUmodule last = NULL, other = NULL;
	CUdeviceptr p;

	for (int i = 1; i < CASE; i++) {
		other = last;
		last = ik_another();
	}
	p = ik_alloc_of(last, count, size, 0);
	tk_launch(tk_kernel_of(other, "d_flip"), 1, 1, NULL, TK_ARGS(&p, &index, &size, &one));
	tk_launch_n(ik_kernel("d_free"), count, NULL, TK_ARGS(&p, &count, &none));
	tk_sync();
}
