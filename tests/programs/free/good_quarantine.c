// options: quarantine_mb=64
// under managed: guarded: some
/*
 * What is kept back comes back where it is wanted, or where its context ends, and nothing of it is somebody else's:
 * frees return as natively, addresses that are given out are nobody's, and as much memory is there in the end.
 */
#include "make_buffer.h"

enum { BUFFERS = 300 };

static size_t available(void)
{
	size_t now, total;

	CK(cuMemGetInfo(&now, &total));
	return now;
}

static void fill_and_free(size_t size)
{
	static CUdeviceptr p[BUFFERS];

	for (int i = 0; i < BUFFERS; i++) {
		p[i] = make_buffer(size);
		CK(cuMemsetD8(p[i], i, size));
		for (int k = 0; k < i; k++)
			REQUIRE(p[k] + size <= p[i] || p[i] + size <= p[k]);
	}
	for (int i = 0; i < BUFFERS; i++)
		CK(cuMemFree(p[i]));
}

int main(void)
{
	CUdeviceptr nearly_all;
	CUcontext context;
	size_t before;

	tk_start();
	before = available();
	for (int i = 0; i < 3; i++) {
		fill_and_free(700);
		fill_and_free(70000);
	}
	/* It fits once the quarantine is empty. Somebody else may want the memory of a real device. */
	if (before < (size_t)17 << 30) {
		CK(cuMemAlloc(&nearly_all, before - ((size_t)8 << 20)));
		CK(cuMemFree(nearly_all));
	}
	context = tk_new_context();
	fill_and_free(700);
	CK(cuCtxDestroy(context));
	puts("done");
}
