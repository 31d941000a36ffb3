/*
 * An event recorded behind a long kernel is destroyed by the first ABI of cuEventDestroy, which dlsym gives, and its
 * handle goes to a new event. A query of that one says that it is complete, and says nothing about the kernel, which
 * then overruns a buffer.
 */
#include "make_buffer.h"
#include "report_log.h"
#include <dlfcn.h>

enum { EVENTS = 32 };

/* Memory that was freed and is not reused first, so that the next handle that is free will be. */
static void warm_up(void)
{
	CUevent event[EVENTS];

	for (int i = 0; i < EVENTS; i++)
		CK(cuEventCreate(&event[i], CU_EVENT_DISABLE_TIMING));
	for (int i = 0; i < EVENTS; i++)
		CK(cuEventDestroy(event[i]));
}

int main(void)
{
	CUresult (*destroy)(CUevent);
	CUevent old, event = NULL;
	CUdeviceptr p;

	*(void **)&destroy = dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuEventDestroy");
	tk_start();
	p = make_buffer(4096);
	warm_up();
	CK(cuEventCreate(&old, CU_EVENT_DISABLE_TIMING));
	tk_spin(NULL, 400);
	tk_flip(p, 4096, 1);
	CK(cuEventRecord(old, NULL));
	CK(destroy(old));
	for (int i = 0; i < EVENTS && event != old; i++)
		CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	if (event != old)
		tk_skip("no new event has the handle of the old one");
	CK(cuEventQuery(event));
	printf("%s\n", wait_for_report("past the end", 3000) ? "reported" : "not reported");
}
