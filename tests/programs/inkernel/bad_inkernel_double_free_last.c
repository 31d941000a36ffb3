// expect: double-free size 48
/* The first free was the last one of a chunk, so nothing is left of what kind of chunk it was. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(1, 48);
	ik_free(p, 1, 0);
	tk_sync();
	tk_sleep_ms(100);
	ik_free(p, 1, 0);
	tk_sync();
	return 0;
}
