// expect: double-free size 1000
// options: device_free_delay=1000
/* Two threads of a warp believe that the buffer is theirs. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(8, 1000);
	tk_launch(ik_kernel("d_free_same"), 1, 2, NULL, TK_ARGS(&p));
	tk_sync();
	return 0;
}
