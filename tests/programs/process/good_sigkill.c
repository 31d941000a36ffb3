// guarded: no
/* The program ends by raise(SIGKILL), with buffers alive and a kernel running. */
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
	raise(SIGKILL);
	return 0;
}
