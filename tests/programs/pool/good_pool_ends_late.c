// options: max_overhead=100
/* A context is destroyed while the look at freed memory waits for a kernel, and another one comes after it. */
#include "pooled.h"

static void use_context(void)
{
	CUcontext context = tk_start_in_new_context();
	CUstream stream = tk_stream();
	CUdeviceptr p[2];

	for (int i = 0; i < 2; i++) {
		p[i] = make_pooled(SIZE, stream);
		flip_end(p[i], SIZE, stream, 0);
	}
	CK(cuStreamSynchronize(stream));
	tk_spin(stream, 300);
	CK(cuMemFreeAsync(p[0], stream));
	CK(cuCtxDestroy(context));
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		use_context();
	puts("done");
}
