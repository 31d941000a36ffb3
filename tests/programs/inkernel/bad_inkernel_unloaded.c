// expect: heap-buffer-overflow size 60 offset +0
// suspect: d_flip
/*
 * The only module with kernels that allocate is unloaded, while the one that does it has not begun: unloading waits for
 * it, and what it did is looked for then.
 */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p = ik_alloc(20, 60);

	tk_spin(NULL, 100);
	ik_flip(p, 9, 60, 1);
	CK(cuModuleUnload(ik_module));
}
