/*
 * green_freed_beside: a green context goes while another thread frees a buffer of it, which takes long. What is kept of
 * its small buffers serves the primary context, and whoever comes next starts anew: prints which of its small buffers
 * are managed.
 */
#include "green.h"
#include "make_buffer.h"
#include <pthread.h>

#if CUDA_VERSION < 12040
int main(void)
{
	tk_skip("no green contexts in this toolkit");
}
#else
static CUdeviceptr buffer;

static void *free_it(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(tk_context));
	CK(cuMemFree(buffer));
	return NULL;
}

static void is_managed(CUdeviceptr p)
{
	int managed = 0;

	CK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
	printf("%d ", managed);
}

int main(void)
{
	CUdeviceptr early[2];
	CUcontext next;
	CUgreenCtx green;
	pthread_t thread;

	tk_start();
	green = make_green(&next);
	buffer = make_buffer(1000);
	for (int i = 0; i < 2; i++)
		early[i] = make_buffer(1000);
	for (int i = 0; i < 2; i++)
		CK(cuMemFree(early[i]));
	CK(cuCtxSetCurrent(tk_context));
	REQUIRE(!pthread_create(&thread, NULL, free_it, NULL));
	tk_sleep_ms(100);
	CK(cuGreenCtxDestroy(green));
	REQUIRE(!pthread_join(thread, NULL));
	CK(cuCtxCreate(&next, NULL, 0, tk_device));
	for (int i = 0; i < 2; i++)
		is_managed(make_buffer(1000));
	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < 2; i++)
		is_managed(make_buffer(1000));
	puts("done");
	return 0;
}
#endif
