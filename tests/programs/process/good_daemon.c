/* A process becomes a daemon and uses CUDA there; it says so through a pipe. */
#include "process.h"
#include <poll.h>

int main(void)
{
	char said[100];
	ssize_t got;
	int ends[2];
	pid_t child;

	REQUIRE(!pipe(ends));
	child = fork();
	REQUIRE(child >= 0);
	if (child == 0) {
		close(ends[0]);
		if (daemon(1, 1))
			return 1;
		tk_start();
		use_cuda(4000);
		REQUIRE(write(ends[1], "done\n", 5) == 5);
		return 0;
	}
	close(ends[1]);
	printf("left with %d\n", wait_for_child(child));
	/* The pipe ends when the daemon has. */
	while (poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 20000) > 0) {
		got = read(ends[0], said, sizeof(said));
		if (got <= 0)
			return 0;
		fwrite(said, 1, (size_t)got, stdout);
	}
	puts("the daemon does not end");
	return 1;
}
