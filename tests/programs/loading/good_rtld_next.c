/* A library between the program and the C library wraps a function and finds the real one by dlsym(RTLD_NEXT): it must
 * find the one after itself, not the one after whoever interposes dlsym. */
#include "process.h"

extern int getpgrp_calls;

int main(void)
{
	printf("a process group: %d\n", getpgrp() > 0);
	printf("calls: %d\n", getpgrp_calls);
	tk_start();
	use_cuda(4000);
}
