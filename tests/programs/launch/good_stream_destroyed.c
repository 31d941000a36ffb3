/* Streams and events are destroyed with work pending: it is done all the same. */
#include "testkit.h"

int main(void)
{
	unsigned char last;
	CUstream stream;
	CUevent event;
	CUdeviceptr p = tk_alloc(3000);

	CK(cuMemsetD8(p, 0, 3000));
	tk_sync();
	for (int i = 0; i < 25; i++) {
		CK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
		CK(cuEventCreate(&event, CU_EVENT_DEFAULT));
		tk_spin(stream, 2);
		tk_flip_on(stream, p, 0, 3000);
		CK(cuEventRecord(event, stream));
		CK(cuStreamWaitEvent(NULL, event, 0));
		CK(cuEventDestroy(event));
		CK(cuStreamDestroy(stream));
		CK(cuStreamSynchronize(NULL));
	}
	CK(cuMemcpyDtoH(&last, p + 2999, 1));
	printf("last byte %#x\n", last);
	CK(cuMemFree(p));
}
