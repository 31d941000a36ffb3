/*
 * innocent [HOW]: one kernel was done and waited for before the buffer was overrun by another: only that one could have
 * done it. HOW, where another context is current while the program waits:
 *
 *   given      for the kernel's
 *   current    for that one, which proves nothing of the kernel
 */
#include "make_buffer.h"

static void wait_beside(int given)
{
	CUcontext other;

	CK(tk_create_context(&other, tk_device));
	CK(cuCtxSynchronize_v2(given ? tk_context : other));
	CK(cuCtxSetCurrent(tk_context));
}

int main(int argc, char **argv)
{
	int value = 0;
	long long zero = 0, n = 4096;
	CUdeviceptr p = make_buffer(4096);

	tk_launch_n(tk_kernel("k_fill"), n, NULL, TK_ARGS(&p, &zero, &n, &value));
	if (argc > 1)
		wait_beside(!strcmp(argv[1], "given"));
	else
		CK(cuStreamSynchronize(NULL));
	tk_sleep_ms(100); /* long enough to be seen intact after that */
	tk_flip(p, 4096, 1);
	CK(cuStreamSynchronize(NULL));
	CK(cuMemFree(p));
}
