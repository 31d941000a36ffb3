// expect: heap-buffer-overflow size 64 offset +1
// options: device_free_delay=1000
// suspect: d_free_and_flip
/* Behind a buffer that has been freed: the canaries outlive it. */
#include "inkernel.h"

int main(void)
{
	long long index = 0, off = 65;
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(20, 64);
	tk_launch(ik_kernel("d_free_and_flip"), 1, 32, NULL, TK_ARGS(&p, &index, &off));
	tk_sync();
	return 0;
}
