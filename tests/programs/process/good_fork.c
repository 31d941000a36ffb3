/* A process with CUDA forks; the children do no CUDA and leave by exit, by _exit and by exec. */
#include "process.h"

int main(void)
{
	CUdeviceptr p;
	pid_t child;

	setvbuf(stdout, NULL, _IONBF, 0);
	tk_start();
	CK(cuMemAlloc(&p, 4000));
	tk_flip(p, 0, 4000);
	for (int way = 0; way < 3; way++) {
		child = fork();
		REQUIRE(child >= 0);
		if (child == 0) {
			printf("child %d\n", way);
			if (way == 0)
				exit(10);
			if (way == 1)
				_exit(11);
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		printf("ended with %d\n", wait_for_child(child));
		tk_flip(p, 0, 4000);
	}
	tk_sync();
	CK(cuMemFree(p));
}
