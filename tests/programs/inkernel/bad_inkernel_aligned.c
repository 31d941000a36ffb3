// expect: heap-buffer-overflow size 100 offset +0
// expect: heap-buffer-underflow size 3000 offset -1
// suspect: d_flip
/* The bytes around buffers that were asked for at multiples of 256. */
#include "inkernel.h"

int main(void)
{
	static const long long sizes[] = {100, 3000}, wrong[] = {100, -1};
	long long align = 256;
	CUdeviceptr why = ik_counter(), p;

	for (int i = 0; i < 2; i++) {
		p = ik_array(1);
		tk_launch(ik_kernel("d_aligned"), 1, 1, NULL, TK_ARGS(&p, &align, (void *)&sizes[i], &why));
		ik_flip(p, 0, wrong[i], 1);
		ik_free(p, 1, 0);
	}
	tk_sync();
}
