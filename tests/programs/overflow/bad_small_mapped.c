// expect: heap-buffer-overflow size 4096 offset +0 in make_buffer
// expect: heap-buffer-overflow size 1000 offset +10 in make_buffer
// expect: heap-buffer-overflow size 2000 offset +0 in make_buffer
// suspect: k_flip
// options: small_mapped=2
/* Past the ends of small buffers: of two that are mapped, on the page behind and in the slack, and of a managed one. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p[3];

	tk_start();
	p[0] = make_buffer(4096);
	p[1] = make_buffer(1000);
	p[2] = make_buffer(2000);
	tk_sync(); /* the canaries beside them, too, have arrived */
	tk_flip(p[0], 4096, 1);
	tk_flip(p[1], 1010, 1);
	tk_flip(p[2], 2000, 1);
	tk_sync();
	for (int i = 0; i < 3; i++)
		CK(cuMemFree(p[i]));
}
