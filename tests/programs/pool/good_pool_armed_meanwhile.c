// options: max_overhead=100
// guarded: no
// sim-env: SIM_STALL=cuMemsetD32Async:1:60
/* A thread launches in a stream while another one, which has just got a buffer there, hands it to a second stream by an
 * event. It is used and freed in that one, and its next tenant keeps what it has there. */
#include "pooled.h"

enum { NEXT_SIZE = SIZE + 400 };

static CUstream home;

static void *launch(void *unused)
{
	(void)unused;
	CK(cuCtxSetCurrent(tk_context));
	tk_spin(home, 1);
	return NULL;
}

int main(void)
{
	static unsigned char bytes[NEXT_SIZE];
	CUstream guest = tk_stream();
	CUdeviceptr p, q;
	volatile int *held;
	pthread_t thread;

	home = tk_stream();
	tk_spin(home, 1);
	tk_spin(guest, 1);
	tk_sync();
	p = make_pooled(SIZE, home);
	thread = tk_begin_thread(launch, NULL);
	tk_sleep_ms(20);
	order(home, guest);
	held = hold(home);
	tk_end_thread(thread);
	CK(cuMemFreeAsync(p, guest));
	q = make_pooled(NEXT_SIZE, guest);
	CK(cuMemsetD8Async(q, 7, NEXT_SIZE, guest));
	CK(cuStreamSynchronize(guest));
	*held = 1;
	CK(cuStreamSynchronize(home));
	CK(cuMemcpyDtoH(bytes, q, NEXT_SIZE));
	for (int i = 0; i < NEXT_SIZE; i++)
		REQUIRE(bytes[i] == 7);
	CK(cuMemFreeAsync(q, guest));
	tk_sync();
	puts("done");
}
