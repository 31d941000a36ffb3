// expect: invalid-free
/* A kernel frees an address inside a buffer. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(1, 480);
	ik_free(p, 1, 32);
	ik_free(p, 1, 0);
	tk_sync();
	return 0;
}
