// expect: heap-buffer-overflow size 900 offset +1 in make_buffer
// suspect: k_flip
/* One of several non-blocking streams; only an event is ever waited for. */
#include "make_buffer.h"

int main(void)
{
	CUstream stream[4];
	CUevent done;
	CUdeviceptr p = make_buffer(900);

	CK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
	for (int i = 0; i < 4; i++) {
		CK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
		tk_spin(stream[i], 1);
	}
	tk_flip_on(stream[2], p, 901, 3);
	CK(cuEventRecord(done, stream[2]));
	CK(cuEventSynchronize(done));
}
