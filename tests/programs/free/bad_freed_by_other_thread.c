// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_flip
/* One thread allocates, one launches, one frees. */
#include "make_buffer.h"

static CUdeviceptr buffer;

static void *overrun(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(tk_context));
	tk_spin(NULL, 20);
	tk_flip(buffer, 1000, 4);
	return NULL;
}

static void *give_back(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(tk_context));
	CK(cuMemFree(buffer));
	return NULL;
}

int main(void)
{
	tk_start();
	buffer = make_buffer(1000);
	tk_in_a_thread(overrun, NULL);
	tk_in_a_thread(give_back, NULL);
}
