/* Contexts of the program's own, pushed, popped and destroyed with buffers alive in them. */
#include "testkit.h"
#include "process.h"

int main(void)
{
	CUcontext context, popped;
	CUdeviceptr p;

	tk_init();
	for (int i = 0; i < 3; i++) {
		context = tk_new_context();
		for (int n = 1; n <= 10; n++) {
			CK(cuMemAlloc(&p, 3000 * n));
			tk_flip(p, 0, 3000 * n);
		}
		CK(cuCtxPopCurrent(&popped));
		REQUIRE(popped == context);
		CK(cuCtxPushCurrent(context));
		use_cuda(6000);
		CK(cuCtxDestroy(context));
		printf("destroyed %d\n", i);
	}
}
