/* The program waits by asking: events and streams are queried until they say done. */
#include "testkit.h"

int main(void)
{
	unsigned char last = 0;
	CUstream stream;
	CUevent event;
	double end;
	CUdeviceptr p = tk_alloc(4000);

	CK(cuMemsetD8(p, 0, 4000));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	CK(cuStreamSynchronize(NULL));
	for (int i = 0; i < 20; i++) {
		CUresult r;

		tk_spin(stream, 2);
		tk_flip_on(stream, p, 0, 4000);
		CK(cuEventRecord(event, stream));
		end = tk_ms() + 10000;
		do
			r = i % 2 ? cuEventQuery(event) : cuStreamQuery(stream);
		while (r == CUDA_ERROR_NOT_READY && tk_ms() < end);
		CK(r);
	}
	tk_flip_on(stream, p, 0, 4000);
	CK(cuStreamWaitEvent(NULL, event, 0));
	CK(cuStreamSynchronize(stream));
	CK(cuMemcpyDtoH(&last, p + 3999, 1));
	printf("last byte %#x\n", last);
	CK(cuEventDestroy(event));
	CK(cuStreamDestroy(stream));
	CK(cuMemFree(p));
}
