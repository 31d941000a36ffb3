/* Work that hops between eight streams, ordered by events alone. */
#include "testkit.h"

#define STREAMS 8

int main(void)
{
	CUstream stream[STREAMS];
	CUevent event[STREAMS];
	unsigned char value;
	CUdeviceptr p = tk_alloc(2000);

	CK(cuMemsetD8(p, 0, 2000));
	CK(cuStreamSynchronize(NULL));
	for (int i = 0; i < STREAMS; i++) {
		CK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
		CK(cuEventCreate(&event[i], CU_EVENT_DISABLE_TIMING));
	}
	for (int i = 0; i < 201; i++) {
		if (i)
			CK(cuStreamWaitEvent(stream[i % STREAMS], event[(i - 1) % STREAMS], 0));
		tk_flip_on(stream[i % STREAMS], p, 0, 2000);
		CK(cuEventRecord(event[i % STREAMS], stream[i % STREAMS]));
	}
	CK(cuEventSynchronize(event[200 % STREAMS]));
	CK(cuMemcpyDtoH(&value, p + 1999, 1));
	printf("%#x\n", value);
	for (int i = 0; i < STREAMS; i++) {
		CK(cuStreamDestroy(stream[i]));
		CK(cuEventDestroy(event[i]));
	}
	CK(cuMemFree(p));
}
