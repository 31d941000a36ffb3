// expect: 3 x invalid-free
/* Addresses inside a large buffer, on boundaries of the heap's own and off them. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(1, 300000);
	ik_free(p, 1, 65536);
	ik_free(p, 1, 131072 - 16);
	ik_free(p, 1, 1);
	ik_free(p, 1, 0);
	tk_sync();
	return 0;
}
