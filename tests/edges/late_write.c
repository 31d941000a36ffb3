/*
 * late_write SIZE busy|query|event|idle: a byte behind the buffer changes when the program makes no driver call any
 * more, and has to be reported while it still does nothing.
 *
 *   busy     the write is queued behind a kernel of 400 ms
 *   query    and the program has asked in between whether all is done, which it was not
 *   event    and it has waited for an event that came before
 *   idle     the write comes at once, but after a time in which nothing happened and the monitor went to sleep
 */
#include "make_buffer.h"
#include "report_log.h"

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
	const char *how = argc > 2 ? argv[2] : "busy";
	CUdeviceptr p;
	CUevent event;
	int reported;

	tk_start();
	tk_kernel("k_flip");
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	p = make_buffer(size);
	if (!strcmp(how, "idle")) {
		tk_sleep_ms(400);
	} else {
		CK(cuEventRecord(event, NULL));
		tk_spin(NULL, 400);
	}
	tk_flip(p, (long long)size, 1);
	if (!strcmp(how, "query"))
		EXPECT(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	if (!strcmp(how, "event"))
		CK(cuEventSynchronize(event));
	reported = wait_for_report("past the end", 3000);
	printf("%s\n", reported ? "reported" : "not reported");
	tk_sync();
	CK(cuMemFree(p));
}
