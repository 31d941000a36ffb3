// case: bad_launches_behind 0
// case: bad_launches_behind_and_waits 1000
// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip
// first: k_flip x1 on the default stream.*: an argument of it was the address of the buffer, or .*
// needs: cuFuncGetParamInfo
// options: scan_interval_us=60000000
/*
 * The kernel that did it is followed by 20 000 launches of 60 others on several streams, before anybody looks; the
 * program may wait for all of them now and then, which proves that it is complete. It is named first: of the others the
 * latest launches are known, and point elsewhere.
 */
#include "make_buffer.h"

enum { LAUNCHES = 20000, KERNELS = 60, STREAMS = 12, WAITS_EACH = CASE + 0 };

int main(void)
{
	CUdeviceptr p = make_buffer(3000), other = tk_alloc(8 << 20), far = other + (4 << 20);
	long long at = 0, count = 4;
	CUfunction flip[KERNELS];
	CUstream stream[STREAMS];

	for (int i = 0; i < KERNELS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "k_flip_%02d", i);
		flip[i] = tk_kernel(name);
	}
	for (int i = 0; i < STREAMS; i++)
		stream[i] = tk_stream();
	tk_flip(p, 3000, 4);
	for (int i = 0; i < LAUNCHES; i++) {
		tk_launch(flip[i % KERNELS], 1, 4, stream[i % STREAMS], TK_ARGS(&far, &at, &count));
		if (WAITS_EACH && i % (WAITS_EACH + !WAITS_EACH) == 0)
			tk_sync();
	}
	CK(cuMemFree(p));
	CK(cuMemFree(other));
}
