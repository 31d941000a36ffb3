// expect: heap-buffer-overflow size 4333 offset +2 in make_buffer
// suspect: k_flip
/* One buffer of five thousand, each of a size of its own. */
#include "make_buffer.h"

#define BUFFERS 5000

int main(void)
{
	static CUdeviceptr p[BUFFERS];

	tk_start();
	for (int i = 0; i < BUFFERS; i++)
		p[i] = make_buffer(1000 + i);
	tk_flip(p[3333], 4333 + 2, 4);
	tk_sync();
	for (int i = 0; i < BUFFERS; i += 2)
		CK(cuMemFree(p[i]));
}
