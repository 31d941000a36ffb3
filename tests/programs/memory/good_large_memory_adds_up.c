// under device: differs: our bytes take memory
// under managed: differs: pages are the device's once they are used
/* What large buffers take from the device, and give back, is what native ones do: whole granules of 2 MiB. Others may
 * use the device meanwhile, so the program looks again where that came in between. */
#include "testkit.h"

static int as_expected(size_t size)
{
	size_t granules = (size + (2 << 20) - 1) >> 21, before, during, after, total;
	CUdeviceptr p;

	CK(cuMemGetInfo(&before, &total));
	CK(cuMemAlloc(&p, size));
	CK(cuMemGetInfo(&during, &total));
	CK(cuMemFree(p));
	CK(cuMemGetInfo(&after, &total));
	return before - during == granules << 21 && after == before;
}

int main(void)
{
	size_t sizes[] = {2 << 20, (2 << 20) + 1, 5000000, 256 << 20};

	tk_start();
	as_expected(2 << 20); /* the first use of anything may take memory of its own */
	for (int i = 0; i < 4; i++) {
		int tries = 0;

		while (!as_expected(sizes[i]) && ++tries < 2000)
			tk_sleep_ms(3);
		printf("%zu %s\n", sizes[i], tries < 2000 ? "adds up" : "does not add up");
	}
}
