// case: good_rest_host_function CK(cuLaunchHostFunc(held, wait_for_go, NULL))
// case: good_rest_callback CK(cuStreamAddCallback(held, wait_in_callback, NULL, 0))
// case: good_rest_value hold(NULL)
// case: good_rest_other_thread tk_in_a_thread(hold, NULL)
/*
 * All code is loaded and has run. A function of the host's in one stream, or a wait for a word of the host's, goes on
 * once the host has had some kernels in another stream, and has waited for each. No launch is under way then, but the
 * device is not at rest: what loads code would wait. The thread that has put it there need not be one that launches.
 */
#include "make_buffer.h"

static volatile int *go;
static CUstream held;

static TK_UNUSED void CUDA_CB wait_for_go(void *unused)
{
	double began = tk_ms();

	(void)unused;
	while (!*go && tk_ms() - began < 20000)
		tk_sleep_ms(1);
}

static TK_UNUSED void CUDA_CB wait_in_callback(CUstream stream, CUresult result, void *unused)
{
	(void)stream;
	(void)result;
	wait_for_go(unused);
}

static TK_UNUSED void *hold(void *unused)
{
	CK(cuCtxSetCurrent(tk_context));
	CK(cuStreamWaitValue32(held, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_EQ));
	return unused;
}

int main(void)
{
	CUstream other;
	CUdeviceptr p;
	double began;

	tk_start();
	held = tk_stream();
	other = tk_stream();
	go = tk_flag();
	p = make_buffer(1000);
	tk_flip_on(held, p, 0, 4);
	tk_flip_on(other, p, 0, 4);
	tk_sync();
	CASE;
	began = tk_ms();
	for (int i = 0; i < 100; i++) {
		tk_flip_on(other, p, 0, 4);
		CK(cuStreamSynchronize(other));
		tk_sleep_ms(1);
	}
	REQUIRE(tk_ms() - began < 10000);
	*go = 1;
	tk_sync();
	CK(cuMemFree(p));
	puts("done");
}
