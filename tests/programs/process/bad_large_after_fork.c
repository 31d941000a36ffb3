// expect: heap-buffer-overflow size 2097152 offset +0 in make_buffer
// suspect: k_flip
/* Past the end after a child was forked, while the child lives: what the device writes is still what the CPU reads. */
#include "make_buffer.h"

#include <sys/wait.h>

int main(void)
{
	CUdeviceptr p = make_buffer(2 << 20);
	pid_t child = fork();

	if (!child) {
		tk_sleep_ms(300);
		_exit(0);
	}
	tk_flip(p, 2 << 20, 1);
	tk_sync();
	tk_sleep_ms(50);
	CK(cuMemFree(p));
	waitpid(child, NULL, 0);
}
