// expect: use-after-free size 200 offset +50
// options: device_free_delay=1000
/* A write into a buffer that freeN has had, while the guard keeps it back. */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p = ik_alloc(10, 200);

	ik_free(p, 10, 0);
	ik_flip(p, 3, 50, 4);
	tk_sync();
}
