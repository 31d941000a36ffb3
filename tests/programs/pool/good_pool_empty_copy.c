// options: max_overhead=100
// guarded: no
/*
 * A copy of nothing to the host does not wait for what its stream has been given. What that is, the fill of a redzone
 * among it, is not done therefore.
 */
#include "pooled.h"

int main(void)
{
	volatile int *flag;
	char unused[8];
	CUdeviceptr p;

	tk_start();
	flag = hold(NULL);
	p = make_pooled(SIZE, NULL);
	tk_flip(p, 0, 1);
	CK(cuMemcpyDtoH(unused, p, 0));
	tk_sleep_ms(500);
	*flag = 1;
	tk_sync();
	CK(cuMemFreeAsync(p, NULL));
	tk_sync();
	puts("done");
}
