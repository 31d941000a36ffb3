// expect: heap-buffer-overflow size 4096 offset +0 in make_buffer
// options: halt_on_error=1
// exit: 86
/* halt_on_error ends the program, which would go on for another ten seconds. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(4096);

	tk_flip(p, 4096, 1);
	tk_sync();
	tk_sleep_ms(10000);
	return 1;
}
