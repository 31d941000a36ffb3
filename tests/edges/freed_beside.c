/* freed_beside: a context goes while another thread frees a buffer of it, which takes long. Whoever comes next starts
 * anew. */
#include "make_buffer.h"

static CUdeviceptr buffer;
static CUcontext context;

/* What it is told depends on who is first. */
static void *free_it(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(context));
	cuMemFree(buffer);
	return NULL;
}

int main(void)
{
	CUdeviceptr early[2];
	pthread_t thread;

	tk_start();
	CK(cuCtxCreate(&context, NULL, 0, tk_device));
	buffer = make_buffer(1000);
	for (int i = 0; i < 2; i++)
		early[i] = make_buffer(1000);
	for (int i = 0; i < 2; i++)
		CK(cuMemFree(early[i]));
	thread = tk_begin_thread(free_it, NULL);
	tk_sleep_ms(100);
	CK(cuCtxDestroy(context));
	tk_end_thread(thread);
	CK(cuCtxCreate(&context, NULL, 0, tk_device));
	for (int i = 0; i < 2; i++)
		make_buffer(1000);
	puts("done");
}
