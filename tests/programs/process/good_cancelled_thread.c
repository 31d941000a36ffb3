/* Threads that allocate are cancelled at a point of their choosing; what they allocated stays, and others free it. */
#include "testkit.h"

static CUdeviceptr buffers[4][5000];

static void *allocate(void *mine)
{
	CUdeviceptr *p = mine;

	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < 4999; i++) {
		CK(cuMemAlloc(&p[i], 500 + i));
		pthread_testcancel();
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		tk_sleep_ms(i > 100);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[4];
	void *how;

	tk_start();
	for (int i = 0; i < 4; i++)
		thread[i] = tk_begin_thread(allocate, buffers[i]);
	tk_sleep_ms(50);
	for (int i = 0; i < 4; i++) {
		REQUIRE(!pthread_cancel(thread[i]));
		REQUIRE(!pthread_join(thread[i], &how));
		printf("cancelled: %d\n", how == PTHREAD_CANCELED);
		for (int n = 0; buffers[i][n]; n++)
			CK(cuMemFree(buffers[i][n]));
	}
}
