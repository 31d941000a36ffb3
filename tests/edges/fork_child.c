/*
 * A child of a process with CUDA asks the driver about everything it inherited. Natively the driver refuses; it says so
 * in the same words here, and what the child does wrong is nobody's finding. The parent's buffer has been overrun
 * before.
 */
#include "make_buffer.h"
#include "process.h"

static void say(const char *what, CUresult r)
{
	printf("child: %s: %s\n", what, tk_error_name(r));
}

static void ask(CUdeviceptr p, void *pinned, CUcontext context, CUfunction flip)
{
	long long off = 4096, count = 1;
	CUdeviceptr q = 0, base = 0;
	size_t size = 0, total = 0;
	char host[16];
	void *more = NULL;

	say("init", cuInit(0));
	say("alloc", cuMemAlloc(&q, 1000));
	say("alloc host", cuMemAllocHost(&more, 1000));
	say("range", cuMemGetAddressRange(&base, &size, p));
	say("info", cuMemGetInfo(&size, &total));
	say("copy past the end", cuMemcpyDtoH(host, p + 4090, 16));
	say("launch", cuLaunchKernel(flip, 1, 1, 1, 1, 1, 1, 0, NULL, TK_ARGS(&p, &off, &count), NULL));
	say("free inside", cuMemFree(p + 16));
	say("free", cuMemFree(p));
	say("free again", cuMemFree(p));
	say("free host", cuMemFreeHost(pinned));
	say("synchronise", cuCtxSynchronize());
	say("destroy", cuCtxDestroy(context));
	say("reset", cuDevicePrimaryCtxReset(0));
}

int main(int argc, char **argv TK_UNUSED)
{
	CUfunction flip;
	CUdeviceptr p;
	pid_t child;

	setvbuf(stdout, NULL, _IONBF, 0);
	tk_start();
	flip = tk_kernel("k_flip");
	p = make_buffer(4096);
	if (argc > 1)
		tk_flip(p, 4096, 1);
	tk_sync();
	for (int way = 0; way < 2; way++) {
		char *pinned = make_pinned(100);

		child = fork();
		REQUIRE(child >= 0);
		if (child == 0) {
			ask(p, pinned, tk_context, flip);
			if (way == 0)
				exit(10);
			_exit(11);
		}
		printf("ended with %d\n", wait_for_child(child));
		CK(cuMemFreeHost(pinned));
	}
	CK(cuMemFree(p));
}
