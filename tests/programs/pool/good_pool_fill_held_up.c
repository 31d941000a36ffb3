// options: max_overhead=100
// sim-env: SIM_STALL=cuMemsetD32Async:1:2000
// guarded: no
/*
 * A launch waits in the driver, as one does whose stream is full, and the fill in front of it. Another thread records
 * an event in another stream, and waits for that one: it is not held up.
 */
#include "pooled.h"

static CUstream home;
static volatile int allocated;

static void *launch(void *unused)
{
	CUdeviceptr p;

	CK(cuCtxSetCurrent(tk_context));
	p = make_pooled(SIZE, home);
	allocated = 1;
	flip_end(p, SIZE, home, 0);
	CK(cuMemFreeAsync(p, home));
	return unused;
}

int main(void)
{
	pthread_t thread;
	CUstream other;
	CUevent event;
	double began;

	tk_start();
	home = tk_stream();
	other = tk_stream();
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	tk_spin(other, 0);
	tk_sync();
	thread = tk_begin_thread(launch, NULL);
	while (!allocated)
		;
	tk_sleep_ms(50);
	began = tk_ms();
	CK(cuEventRecord(event, other));
	CK(cuStreamSynchronize(other));
	REQUIRE(tk_ms() - began < 1000);
	tk_end_thread(thread);
	CK(cuStreamSynchronize(home));
	puts("done");
}
