/* Many overruns, each with its own way through the functions, so that none is a repetition of another. */
#include "make_buffer.h"

enum { OVERRUNS = 40, DEPTH = 48 };

static __attribute__((noinline)) CUdeviceptr make_deep(int level, int i)
{
	CUdeviceptr p;

	if (!level)
		return make_buffer(4096 + (size_t)i);
	/* Two places to come from, and no tail call. */
	if (i >> level % 6 & 1) {
		p = make_deep(level - 1, i);
		__asm__ volatile("nop" : "+r"(p));
	} else {
		p = make_deep(level - 1, i);
		__asm__ volatile("" : "+r"(p));
	}
	return p;
}

int main(void)
{
	tk_start();
	for (int i = 0; i < OVERRUNS; i++) {
		CUdeviceptr p = make_deep(DEPTH, i);

		tk_flip(p, 4096 + (size_t)i, 1);
		tk_sync();
		CK(cuMemFree(p));
	}
	return 0;
}
