// expect: use-after-free size 33 offset +32
// options: device_free_delay=1000
// suspect: d_free_and_flip
/* The last byte of a buffer, in the kernel that has freed it. */
#include "inkernel.h"

int main(void)
{
	long long index = 4, off = 32;
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(20, 33);
	tk_launch(ik_kernel("d_free_and_flip"), 1, 32, NULL, TK_ARGS(&p, &index, &off));
	tk_sync();
	return 0;
}
