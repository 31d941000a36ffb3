/* vfork, and the child leaves by _exit: it still runs in its parent's memory, which must stay as it is. */
#include "process.h"

int main(void)
{
	pid_t child;

	tk_start();
	use_cuda(4000);
	for (int i = 0; i < 5; i++) {
		child = vfork();
		if (child == 0)
			_exit(40 + i);
		printf("ended with %d\n", wait_for_child(child));
		use_cuda(4000);
	}
}
