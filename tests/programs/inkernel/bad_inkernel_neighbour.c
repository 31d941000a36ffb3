// expect: heap-buffer-overflow size 24 offset +0
// expect: heap-buffer-underflow size 24 offset -16
// suspect: d_flip
/* A run of bytes that leaves its buffer and goes into the canary before the next one: both have been hit, and say so.
 */
#include "inkernel.h"

int main(void)
{
	CUdeviceptr p;

	ik_start();
	p = ik_alloc(64, 24);
	ik_flip(p, 17, 24, 12);
	tk_sync();
	return 0;
}
