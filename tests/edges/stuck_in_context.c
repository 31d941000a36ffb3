/*
 * The monitor is stuck in a driver call (SIM_STALL) in a context when the program destroys that: it is destroyed, and
 * the program works on in another one, also when the call returns.
 */
#include "make_buffer.h"

static void work(int times)
{
	for (int i = 0; i < times; i++) {
		CUdeviceptr p = make_buffer(1000);

		tk_flip(p, 0, 1000);
		CK(cuMemFree(p));
	}
}

int main(void)
{
	double began;
	CUcontext c = tk_start_in_new_context();

	tk_flip(make_buffer(1000), 0, 1000);
	tk_flip(make_buffer(4 << 20), 4 << 20, 1);
	tk_sync();
	tk_sleep_ms(400);
	began = tk_ms();
	CK(cuCtxDestroy(c));
	fprintf(stderr, "destroyed after %d s\n", (int)((tk_ms() - began) / 1000));
	c = tk_new_context();
	while (tk_ms() - began < 13000) {
		work(100);
		tk_sleep_ms(50);
	}
	CK(cuCtxDestroy(c));
}
