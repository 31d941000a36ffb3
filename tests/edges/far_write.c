/*
 * far_write COUNT OFFSET: of so many buffers the last is overrun, so far behind its end, and put back after a while in
 * which the device stays in use. Only looking at all buffers, and all of their canaries, again and again finds it.
 */
#include "make_buffer.h"

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1, ms = 700;
	long long off = 4096 + (argc > 2 ? atoll(argv[2]) : 0), one = 1;
	CUstream writes, works;
	CUdeviceptr last = 0;

	tk_start();
	for (int i = 0; i < count; i++)
		last = make_buffer(4096);
	CK(cuStreamCreate(&writes, CU_STREAM_NON_BLOCKING));
	CK(cuStreamCreate(&works, CU_STREAM_NON_BLOCKING));
	tk_launch(tk_kernel("k_flip_restore"), 1, 1, writes, TK_ARGS(&last, &off, &one, &ms));
	while (cuStreamQuery(writes) == CUDA_ERROR_NOT_READY) {
		tk_flip_on(works, last, 0, 1);
		CK(cuStreamSynchronize(works));
		tk_sleep_ms(1);
	}
	puts("done");
}
