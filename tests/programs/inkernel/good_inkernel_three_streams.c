/* Allocated on one stream, used on a second one, freed on a third one. */
#include "inkernel.h"

int main(void)
{
	long long count = 500, size = 700, step = 0, off = 0;
	CUdeviceptr p;
	CUstream stream[3];
	CUevent done;
	CUdeviceptr bad = ik_counter();

	CK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
	CK(cuMemAlloc(&p, (size_t)count * sizeof(void *)));
	for (int i = 0; i < 3; i++)
		CK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 20; i++) {
		tk_launch_n(ik_kernel("d_alloc"), count, stream[0], TK_ARGS(&p, &count, &size, &step));
		CK(cuEventRecord(done, stream[0]));
		CK(cuStreamWaitEvent(stream[1], done, 0));
		tk_launch_n(ik_kernel("d_fill"), count, stream[1], TK_ARGS(&p, &count, &size));
		tk_launch_n(ik_kernel("d_check"), count, stream[1], TK_ARGS(&p, &count, &size, &bad));
		CK(cuEventRecord(done, stream[1]));
		CK(cuStreamWaitEvent(stream[2], done, 0));
		tk_launch_n(ik_kernel("d_free"), count, stream[2], TK_ARGS(&p, &count, &off));
		CK(cuEventRecord(done, stream[2]));
		CK(cuStreamWaitEvent(stream[0], done, 0));
	}
	printf("bytes gone: %d\n", ik_count(bad));
}
