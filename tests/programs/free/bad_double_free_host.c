// expect: double-free size 4000 in make_pinned
/* The same pinned buffer freed twice. */
#include "make_buffer.h"

int main(void)
{
	void *host;

	tk_start();
	host = make_pinned(4000);
	CK(cuMemFreeHost(host));
	EXPECT(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
	return 0;
}
