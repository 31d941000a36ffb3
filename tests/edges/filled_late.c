/*
 * A thread's launch, and the fill of a redzone in front of it, is held up in the driver, while another thread records
 * an event behind the allocation and frees the buffer behind that event, in another stream. The fill must not land in
 * whatever is made of the place.
 */
#include "pool/pooled.h"

#include <stdatomic.h>

enum { NEXT_SIZE = 1400 };

static CUstream home, other;
static _Atomic CUdeviceptr allocated;
static atomic_int launched;

static void *allocate_and_launch(void *unused)
{
	CK(cuCtxSetCurrent(tk_context));
	allocated = make_pooled(SIZE, home);
	tk_spin(home, 0);
	launched = 1;
	return unused;
}

/* What comes into the stream from now on takes its time. */
static volatile int *slow_down(CUstream stream)
{
	CUstream busy = tk_stream();
	volatile int *flag = hold(busy);

	order(busy, stream);
	return flag;
}

int main(void)
{
	unsigned char bytes[NEXT_SIZE];
	volatile int *flag;
	pthread_t thread;
	CUdeviceptr q;

	tk_start();
	home = tk_stream();
	other = tk_stream();
	use_once(SIZE, home, 0);
	tk_sync();
	tk_spin(home, 0);
	thread = tk_begin_thread(allocate_and_launch, NULL);
	while (!allocated)
		;
	tk_sleep_ms(50);
	order(home, other);
	flag = slow_down(home);
	CK(cuMemFreeAsync(allocated, other));
	q = make_pooled(NEXT_SIZE, other);
	CK(cuMemsetD8Async(q, 7, NEXT_SIZE, other));
	CK(cuStreamSynchronize(other));
	*flag = 1;
	while (!launched)
		;
	CK(cuStreamSynchronize(home));
	CK(cuMemcpyDtoH(bytes, q, NEXT_SIZE));
	for (int i = 0; i < NEXT_SIZE; i++)
		REQUIRE(bytes[i] == 7);
	tk_end_thread(thread);
	puts("done");
}
