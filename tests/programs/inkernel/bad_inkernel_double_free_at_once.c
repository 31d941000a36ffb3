// expect: 127 x double-free size 48
// options: device_free_delay=1000:max_reports=200
/* Four warps, each in a block of its own, free one buffer at once: one of the 128 threads frees it. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(32, 48);
	tk_launch(ik_kernel("d_free_same"), 4, 32, NULL, TK_ARGS(&p));
	tk_sync();
	return 0;
}
