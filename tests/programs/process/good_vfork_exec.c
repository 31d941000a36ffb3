/* vfork and exec from a process with CUDA. */
#include "process.h"

int main(void)
{
	CUdeviceptr p;
	pid_t child;

	setvbuf(stdout, NULL, _IONBF, 0);
	tk_start();
	CK(cuMemAlloc(&p, 4000));
	for (int i = 0; i < 5; i++) {
		tk_flip(p, 0, 4000);
		child = vfork();
		if (child == 0) {
			execl("/bin/echo", "echo", "a child", NULL);
			_exit(1);
		}
		printf("ended with %d\n", wait_for_child(child));
	}
	tk_sync();
	CK(cuMemFree(p));
}
