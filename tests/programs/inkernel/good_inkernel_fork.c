/* A process whose kernels allocate forks; the children do no CUDA and leave by exit and by _exit. */
#include "inkernel.h"
#include "process.h"

int main(void)
{
	long long count = 100, size = 100;
	CUdeviceptr p, bad;
	pid_t child;

	setvbuf(stdout, NULL, _IONBF, 0);
	ik_start();
	bad = ik_counter();
	for (int i = 0; i < 4; i++) {
		p = ik_alloc(count, size);
		tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
		child = fork();
		REQUIRE(child >= 0);
		if (child == 0 && i % 2)
			exit(10 + i);
		if (child == 0)
			_exit(10 + i);
		printf("ended with %d\n", wait_for_child(child));
		tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &size, &bad));
		ik_free(p, count, 0);
	}
	printf("bytes gone: %d\n", ik_count(bad));
}
