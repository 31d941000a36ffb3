/* One kernel was done and waited for before the buffer was overrun by another: only that one could have done it. */
#include "make_buffer.h"

int main(void)
{
	int value = 0;
	long long zero = 0, n = 4096;
	CUdeviceptr p = make_buffer(4096);

	tk_launch_n(tk_kernel("k_fill"), n, NULL, TK_ARGS(&p, &zero, &n, &value));
	CK(cuStreamSynchronize(NULL));
	tk_sleep_ms(100); /* long enough to be seen intact after that */
	tk_flip(p, 4096, 1);
	CK(cuStreamSynchronize(NULL));
	CK(cuMemFree(p));
}
