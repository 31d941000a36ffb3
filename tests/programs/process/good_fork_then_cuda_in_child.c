/* The parent leaves CUDA alone, the child uses it. */
#include "process.h"

int main(void)
{
	pid_t child = fork();

	REQUIRE(child >= 0);
	if (child == 0) {
		tk_start();
		use_cuda(4000);
		return 9;
	}
	printf("ended with %d\n", wait_for_child(child));
	return 0;
}
