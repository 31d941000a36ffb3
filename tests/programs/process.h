/* For programs that start other processes: waiting that ends. */
#pragma once

#include "testkit.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* The exit status of a child, or 128 + the signal that ended it; after 20 seconds it is killed, which is 137. */
static TK_UNUSED int wait_for_child(pid_t child)
{
	double end = tk_ms() + 20000;
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (tk_ms() > end)
			kill(child, SIGKILL);
		tk_sleep_ms(1);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What a program does when it has something to do: a buffer of `size` bytes on device 0, worked on and read back. */
static TK_UNUSED void use_cuda(size_t size)
{
	unsigned char *host = calloc(1, size);
	CUdeviceptr p;
	size_t wrong = 0;

	REQUIRE(host);
	CK(cuMemAlloc(&p, size));
	CK(cuMemsetD8(p, 0, size));
	tk_flip(p, 0, (long long)size);
	CK(cuMemcpyDtoH(host, p, size));
	for (size_t i = 0; i < size; i++)
		wrong += host[i] != 0x5a;
	CK(cuMemFree(p));
	free(host);
	REQUIRE(wrong == 0);
}
