/*
 * Kernels allocate, free, leave buffers, in a context that ends, too, and free one buffer 2000 times. Prints what the
 * closing line's JSON has to say of it, a member a line.
 */
#include "inkernel.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { COUNT = 300, SIZE = 100, FREED = 120, ELSEWHERE = 50, SMALL = 24, FREES = 2000 };

static void in_a_context_that_ends(void)
{
	CUcontext context = ik_start_in_new_context();

	ik_alloc_of(ik_module, ELSEWHERE, SMALL, 0);
	tk_sync();
	CK(cuCtxDestroy(context));
}

/* It is counted then, and again in the end. */
static void might_end(void)
{
	CUcontext c;

	CK(cuCtxAttach(&c, 0));
	CK(cuCtxDetach(c));
}

int main(void)
{
	CUdeviceptr p;

	in_a_context_that_ends();
	ik_start();
	p = ik_alloc(COUNT, SIZE);
	ik_free(p, FREED, 0);
	tk_sync();
	printf("\"kernel_buffers\":%d,\n\"kernel_left\":%d,\n\"bytes_kernel_left\":%d,\n", COUNT + ELSEWHERE + 1,
	       COUNT - FREED + ELSEWHERE, (COUNT - FREED) * SIZE + ELSEWHERE * SMALL);
	might_end();
	p = ik_alloc(1, SIZE);
	tk_launch(ik_kernel("d_free_same"), FREES / 100, 100, NULL, TK_ARGS(&p));
	tk_sync();
}
