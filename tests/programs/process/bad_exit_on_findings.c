// expect: heap-buffer-overflow size 4000 offset +0 in make_buffer
// options: exit_on_findings=1
// exit: 86
/* The program runs to its end and means to succeed. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4000);
	tk_flip(p, 4000, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 0;
}
