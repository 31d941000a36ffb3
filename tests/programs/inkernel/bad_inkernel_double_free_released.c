// expect: double-free size 48
/* The memory has been given back to the heap when the second free comes; a neighbour keeps the place. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(32, 48);
	ik_free(p, 1, 0);
	tk_sync();
	tk_sleep_ms(100);
	ik_free(p, 1, 0);
	tk_sync();
	return 0;
}
