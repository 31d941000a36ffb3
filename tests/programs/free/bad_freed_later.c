// expect: 5 x heap-buffer-overflow size 1000 offset +0 in make_buffer
// sim-env: SIM_STALL=copy:*:1
// suspect: k_flip
/* Freed right after the overflow, when the program has run for a while: what the last look reads comes by itself. */
#include "make_buffer.h"

enum { COUNT = 5 };

int main(void)
{
	CUdeviceptr p[COUNT];

	for (int i = 0; i < COUNT; i++)
		p[i] = make_buffer(1000);
	for (double end = tk_ms() + 150; tk_ms() < end;)
		tk_flip(p[0], 0, 1);
	for (int i = 0; i < COUNT; i++) {
		tk_flip(p[i], 1000, 1);
		CK(cuMemFree(p[i]));
	}
}
