// expect: double-free size 48
/* A kernel frees a buffer twice. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(1, 48);
	ik_free(p, 1, 0);
	ik_free(p, 1, 0);
	tk_sync();
	return 0;
}
