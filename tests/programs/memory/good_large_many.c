// under device: guarded: some
// sim-env: SIM_MEMORY=12884901888
// limit: 150
/* More large buffers than are ever mapped at once, twice. */
#include "testkit.h"

enum { COUNT = 4300 };

static size_t make_and_free(void)
{
	static CUdeviceptr p[COUNT];
	size_t right = 0;

	for (int i = 0; i < COUNT; i++)
		CK(cuMemAlloc(&p[i], 2 << 20));
	for (int i = 0; i < COUNT; i += 100)
		tk_flip(p[i], (2 << 20) - 4096, 4096);
	tk_sync();
	for (int i = 0; i < COUNT; i++) {
		right += p[i] % 512 == 0;
		CK(cuMemFree(p[i]));
	}
	return right;
}

int main(void)
{
	tk_start();
	for (int i = 0; i < 2; i++)
		printf("%zu of %d\n", make_and_free(), COUNT);
}
