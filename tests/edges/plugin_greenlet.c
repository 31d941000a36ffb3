/*
 * Runs a function on a stack of its own, as Python's greenlet does (gevent, eventlet): beyond the frame here lies what
 * is no frame of the function's callers.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum { STACK = 256 << 10, SAVED = 6 };

void plugin_switch(void **from, void *to);

__asm__(".text\n"
	"plugin_switch:\n"
	".irp r, rbp, rbx, r12, r13, r14, r15\n push %\\r\n .endr\n"
	"mov %rsp, (%rdi)\n"
	"mov %rsi, %rsp\n"
	".irp r, r15, r14, r13, r12, rbx, rbp\n pop %\\r\n .endr\n"
	"ret\n");

static void *caller, *callee;
static void (*work)(void);

static void run(void)
{
	work();
	plugin_switch(&callee, caller);
}

__attribute__((visibility("default"))) int plugin_run(void (*body)(void))
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t *top = (uintptr_t *)(stack + STACK) - SAVED - 2;

	if (stack == MAP_FAILED)
		return 0;
	top[SAVED] = (uintptr_t)run;
	top[SAVED + 1] = 1; /* where it would return to */
	work = body;
	plugin_switch(&caller, top);
	return !munmap(stack, STACK);
}
