// expect: 3 x invalid-free
/* freeN of a variable of the thread's, of one of the module's, and of what cuMemAlloc returned. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	CK(cuMemAlloc(&p, 4096));
	tk_launch(ik_kernel("d_free_foreign"), 1, 1, NULL, TK_ARGS(&p));
	tk_sync();
	CK(cuMemFree(p));
}
