/* The program spawns itself; parent and child both use CUDA. */
#include "process.h"
#include <spawn.h>

extern char **environ;

int main(int argc, char **argv)
{
	char *arguments[] = {argv[0], "child", NULL};
	pid_t child;

	tk_start();
	use_cuda(4000);
	if (argc > 1)
		return 12;
	REQUIRE(!posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ));
	use_cuda(5000);
	printf("ended with %d\n", wait_for_child(child));
	return 0;
}
