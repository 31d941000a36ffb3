// expect: double-free size 4096 in make_buffer
// options: halt_on_error=1:exitcode=23
// exit: 23
/* A misuse of the API halts the program too, with the exit status that was asked for. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(4096);

	CK(cuMemFree(p));
	cuMemFree(p);
	tk_sleep_ms(10000);
	return 1;
}
