/*
 * Allocates, overruns and frees on a coroutine's stack that was made by hand on the heap: what lies where the first
 * function's return address would be is the number that is given.
 */
#include "make_buffer.h"

void start_on(void *top, void (*entry)(void), unsigned long returns_to);

#ifdef __x86_64__
__asm__(
    ".text\n.type start_on, @function\nstart_on: mov %rdi, %rsp\n push %rdx\n jmp *%rsi\n.size start_on, .-start_on");
#else
__asm__(".text\n.type start_on, %function\nstart_on: mov sp, x0\n mov x29, 0\n mov x30, x2\n br x1\n.size start_on, "
	".-start_on");
#endif

static void work(void)
{
	CUdeviceptr p = make_buffer(1000);

	tk_flip(p, 1000, 1);
	CK(cuMemFree(p));
	puts("done");
	exit(0);
}

int main(int argc TK_UNUSED, char **argv)
{
	enum { SIZE = 256 << 10 };
	char *stack = aligned_alloc(64, SIZE);
	unsigned long returns_to = strtoul(argv[1], NULL, 0);

	REQUIRE(stack);
	memset(stack, 0, SIZE);
	tk_start();
	start_on(stack + SIZE - 64, work, returns_to ? returns_to : (unsigned long)stack);
}
