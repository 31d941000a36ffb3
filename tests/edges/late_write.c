/*
 * late_write SIZE HOW: a byte behind the buffer changes when the program makes no driver call any more, and has to be
 * reported while it still does nothing.
 *
 *   busy     the write is queued behind a kernel of 400 ms
 *   query    and the program has asked in between whether all is done, which it was not
 *   event    and it has waited for an event that came before
 *   idle     the write comes at once, but after a time in which nothing happened and the monitor went to sleep
 *   host     likewise, by the CPU behind a pinned buffer
 *
 * Another thread has begun to wait before the write is queued, and what it waits for, 100 ms, proves nothing of that:
 *
 *   stream, context, free, copy      by such a call
 *   given_back                       by a free that waits for the look, and again when it gives the buffer back
 *   recorded                         for an event that is recorded anew, behind the write, before the thread is back
 */
#include "make_buffer.h"
#include "report_log.h"

static CUdeviceptr buffer, other;
static CUevent event;

static void wait_by_stream(void)
{
	CK(cuStreamSynchronize(NULL));
}

static void wait_by_free(void)
{
	CK(cuMemFree(other));
}

static void wait_by_copy(void)
{
	char byte;

	CK(cuMemcpyDtoH(&byte, buffer, 1));
}

static void wait_by_event(void)
{
	CK(cuEventSynchronize(event));
}

static const struct way {
	const char *how;
	void (*wait)(void);
	int again; /* it waits a second time, for what came before that */
} ways[] = {{"stream", wait_by_stream, 0},   {"context", tk_sync, 0},   {"free", wait_by_free, 0},
	    {"given_back", wait_by_free, 1}, {"copy", wait_by_copy, 0}, {"recorded", wait_by_event, 0}};

static void *wait_so(void *way)
{
	CK(cuCtxSetCurrent(tk_context));
	((const struct way *)way)->wait();
	return NULL;
}

static void flip_behind(size_t size, int ms)
{
	tk_spin(NULL, ms);
	tk_flip(buffer, (long long)size, 1);
}

static void beside_a_wait(const struct way *way, size_t size)
{
	pthread_t thread;

	tk_spin(NULL, 100);
	CK(cuEventRecord(event, NULL));
	thread = tk_begin_thread(wait_so, (void *)way);
	tk_sleep_ms(40);
	if (way->again) {
		tk_spin(NULL, 200);
		tk_sleep_ms(160);
	}
	flip_behind(size, 300);
	CK(cuEventRecord(event, NULL));
	tk_end_thread(thread);
}

static void write_by_host(size_t size)
{
	volatile char *pinned = make_pinned(size);

	tk_sleep_ms(400);
	pinned[size] ^= 0x5a;
}

static void by_oneself(const char *how, size_t size)
{
	if (!strcmp(how, "host")) {
		write_by_host(size);
		return;
	}
	if (!strcmp(how, "idle")) {
		tk_sleep_ms(400);
		tk_flip(buffer, (long long)size, 1);
		return;
	}
	CK(cuEventRecord(event, NULL));
	flip_behind(size, 400);
	if (!strcmp(how, "query"))
		EXPECT(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	if (!strcmp(how, "event"))
		CK(cuEventSynchronize(event));
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
	const char *how = argc > 2 ? argv[2] : "busy";
	const struct way *way = NULL;

	tk_start();
	tk_kernel("k_flip");
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	buffer = make_buffer(size);
	other = make_buffer(size);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(how, ways[i].how))
			way = &ways[i];
	if (way)
		beside_a_wait(way, size);
	else
		by_oneself(how, size);
	printf("%s\n", wait_for_report("past the end", 3000) ? "reported" : "not reported");
	tk_sync();
	CK(cuMemFree(buffer));
}
