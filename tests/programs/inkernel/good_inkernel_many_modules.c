/* Modules come to a context, one by one. Each has the heap of the first, and frees what the one before allocated. */
#include "inkernel.h"

enum { MODULES = 70 };

int main(void)
{
	long long count = 20, size = 100;
	CUdeviceptr bad = ik_counter(), p = ik_alloc(count, size), next;
	unsigned long long first, others = 0;

	tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
	first = ik_heap().base;
	for (int i = 1; i < MODULES; i++) {
		ik_module = ik_another();
		next = ik_alloc(count, size);
		tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&next, &count, &size));
		tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &size, &bad));
		ik_free(p, count, 0);
		tk_sync();
		others += ik_heap().base != first;
		p = next;
	}
	ik_free(p, count, 0);
	printf("with another heap: %llu, bytes gone: %d\n", others, ik_count(bad));
}
