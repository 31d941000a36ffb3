/*
 * How much of a thread's stack each call takes, bytes a line: healthy calls first, then calls that are found to be
 * wrong or find something. Whoever compares it with what they take without GMOD knows what GMOD takes.
 *
 * stack_use end: the same for a signal, of which the kernel's frame takes most.
 */
#include "make_buffer.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { STACK = 256 << 10, PAINT = 0xa5, NEAR = 512 };

static unsigned char *stack;
static CUdeviceptr small, large;
static char *pinned, *damaged;
static char host[4096];

static void alloc_small(void)
{
	CK(cuMemAlloc(&small, 1000));
}

static void alloc_large(void)
{
	CK(cuMemAlloc(&large, 3 << 20));
}

static void alloc_pinned(void)
{
	CK(cuMemHostAlloc((void **)&pinned, 4096, 0));
}

static void launch(void)
{
	tk_flip(small, 0, 4);
}

static void copy(void)
{
	CK(cuMemcpyHtoD(small, host, 1000));
}

static void fill(void)
{
	CK(cuMemsetD8(large, 0, 1000));
}

static void query(void)
{
	CUdeviceptr base;
	size_t size;

	CK(cuMemGetAddressRange(&base, &size, small + 10));
}

static void synchronise(void)
{
	CK(cuCtxSynchronize());
}

static void free_small(void)
{
	CK(cuMemFree(small));
}

static void free_large(void)
{
	CK(cuMemFree(large));
}

static void free_pinned(void)
{
	CK(cuMemFreeHost(pinned));
}

static void free_damaged(void)
{
	CK(cuMemFreeHost(damaged));
}

static void free_twice(void)
{
	cuMemFree(small);
}

static void free_inside(void)
{
	cuMemFree(large + 16);
}

static void copy_too_much(void)
{
	cuMemcpyHtoD(small, host, 1001);
}

/* From the inside: what lies below this function's own frame is nobody's yet. */
static __attribute__((noinline)) void measure(const char *name, void (*call)(void))
{
	unsigned char *here = __builtin_frame_address(0), *p;

	for (volatile unsigned char *w = stack; w < here - NEAR; w++)
		*w = PAINT;
	call();
	for (p = stack; *p == PAINT; p++)
		;
	printf("%s %zu\n", name, (size_t)(here - p));
}

static void *calls(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(tk_context));
	for (int round = 0; round < 2; round++) {
		measure("alloc_small", alloc_small);
		measure("alloc_large", alloc_large);
		measure("alloc_pinned", alloc_pinned);
		measure("launch", launch);
		measure("copy", copy);
		measure("fill", fill);
		measure("query", query);
		measure("synchronise", synchronise);
		measure("free_small", free_small);
		measure("free_large", free_large);
		measure("free_pinned", free_pinned);
	}
	puts("wrong 0");
	alloc_small();
	alloc_large();
	damaged = make_pinned(4000);
	damaged[4000] ^= 1;
	measure("free_damaged", free_damaged);
	measure("copy_too_much", copy_too_much);
	measure("free_inside", free_inside);
	free_small();
	measure("free_twice", free_twice);
	return NULL;
}

static void on_stack(void *(*work)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	tk_start();
	tk_kernel("k_flip");
	REQUIRE(!pthread_attr_init(&attributes) && !pthread_attr_setstack(&attributes, stack, STACK));
	REQUIRE(!pthread_create(&thread, &attributes, work, NULL) && !pthread_join(thread, NULL));
}

static void handle(int number TK_UNUSED)
{
}

static void *raise_both(void *unused)
{
	unsigned char *here = __builtin_frame_address(0);

	CK(cuCtxSetCurrent(tk_context));
	make_buffer(1000);
	memset(stack, PAINT, (size_t)(here - stack) - NEAR);
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	raise(SIGTERM);
	return unused;
}

/* Whoever is left looks at the stack. */
static void measure_the_end(void)
{
	unsigned char *p = stack;
	pid_t pid = fork();
	int status;

	if (!pid)
		on_stack(raise_both);
	REQUIRE(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	while (*p == PAINT)
		p++;
	printf("%zu\n", (size_t)(stack + STACK - p));
}

int main(int argc, char **argv TK_UNUSED)
{
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(stack != MAP_FAILED);
	if (argc > 1)
		measure_the_end();
	else
		on_stack(calls);
}
