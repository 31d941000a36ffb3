/*
 * innocent [HOW]: one kernel was done and waited for before a buffer was overrun by another: only that one could have
 * done it.
 *
 *   given      another context is current while the program waits for the kernel's
 *   current    it waits for that one, which proves nothing of the kernel
 *   wild       the other kernel writes where nothing is
 *   new        the other one's buffer is made right after the wait, and so before anybody has looked
 *   ordered    the same with memory in stream order
 *   kept       the buffer is kept back right after the wait, and written to as one that has been freed
 */
#include "make_buffer.h"

static void wait_beside(int given)
{
	CUcontext other;

	CK(tk_create_context(&other, tk_device));
	CK(cuCtxSynchronize_v2(given ? tk_context : other));
	CK(cuCtxSetCurrent(tk_context));
}

static void write_wildly(void)
{
	CUdeviceptr wild = 16;
	int value = 1;

	tk_launch(tk_kernel("k_illegal"), 1, 1, NULL, TK_ARGS(&wild, &value));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* In the first 100 ms it may be that nobody looks. */
static void overrun_at_once(const char *how, CUdeviceptr p)
{
	CUdeviceptr q = p;
	CUstream stream = !strcmp(how, "ordered") ? tk_stream() : NULL;

	if (!strcmp(how, "new"))
		q = make_buffer(4096);
	else if (stream)
		CK(cuMemAllocAsync(&q, 4096, stream));
	else
		CK(cuMemFree(p));
	tk_flip_on(stream, q, !strcmp(how, "kept") ? 100 : 4096, 1);
	if (stream)
		CK(cuMemFreeAsync(q, stream));
	CK(cuStreamSynchronize(stream));
	if (!strcmp(how, "new"))
		CK(cuMemFree(q));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int value = 0;
	long long zero = 0, n = 4096;
	CUdeviceptr p = make_buffer(4096);

	tk_launch_n(tk_kernel("k_fill"), n, NULL, TK_ARGS(&p, &zero, &n, &value));
	if (!strcmp(how, "given") || !strcmp(how, "current"))
		wait_beside(!strcmp(how, "given"));
	else
		CK(cuStreamSynchronize(NULL));
	if (!strcmp(how, "new") || !strcmp(how, "ordered") || !strcmp(how, "kept")) {
		overrun_at_once(how, p);
		return 0;
	}
	tk_sleep_ms(100); /* long enough to be seen intact after that */
	if (!strcmp(how, "wild")) {
		write_wildly();
		return 0;
	}
	tk_flip(p, 4096, 1);
	CK(cuStreamSynchronize(NULL));
	CK(cuMemFree(p));
}
