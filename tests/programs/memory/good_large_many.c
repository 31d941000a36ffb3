// under device: guarded: some
// sim-env: SIM_MEMORY=12884901888
/* More large buffers than are ever mapped at once. */
#include "testkit.h"

enum { COUNT = 4300 };

int main(void)
{
	static CUdeviceptr p[COUNT];
	size_t right = 0;

	tk_start();
	for (int i = 0; i < COUNT; i++)
		CK(cuMemAlloc(&p[i], 2 << 20));
	for (int i = 0; i < COUNT; i += 100)
		tk_flip(p[i], 0, 2 << 20);
	tk_sync();
	for (int i = 0; i < COUNT; i++) {
		right += p[i] % 512 == 0;
		CK(cuMemFree(p[i]));
	}
	printf("%zu of %d\n", right, COUNT);
}
