// options: redzone_mb=4
/* Buffers of whole MiB come and go, of which each takes more than natively: at any time there is room for two of them.
 */
#include "testkit.h"

int main(void)
{
	CUdeviceptr p;

	for (int i = 0; i < 20; i++) {
		p = tk_alloc(4 << 20);
		CK(cuMemsetD8(p, 1, 4 << 20));
		CK(cuMemFree(p));
	}
	puts("done");
}
