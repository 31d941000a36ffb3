// case: good_abort abort()
// case: good_sigkill raise(SIGKILL)
// guarded: no
/* The program ends by abort() or by SIGKILL, with buffers alive and a kernel running. */
#include "testkit.h"
#include <signal.h>

int main(void)
{
	CUdeviceptr p;

	setvbuf(stdout, NULL, _IONBF, 0);
	tk_start();
	CK(cuMemAlloc(&p, 4000));
	tk_flip(p, 0, 4000);
	tk_spin(NULL, 100);
	puts("leaving");
	CASE;
}
