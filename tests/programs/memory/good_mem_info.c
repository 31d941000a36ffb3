/* Free memory goes down by what is allocated and comes back when it is freed, to within the 128 MiB of managed memory
 * that the driver may keep in hand. Others may use the device meanwhile, so the program looks again where that came in
 * between. */
#include "testkit.h"

#define SIZE ((size_t)512 << 20)
#define SLOP ((size_t)128 << 20)

static int as_expected(void)
{
	size_t before, during, after, total;
	CUdeviceptr p;

	CK(cuMemGetInfo(&before, &total));
	CK(cuMemAlloc(&p, SIZE));
	CK(cuMemGetInfo(&during, &total));
	CK(cuMemFree(p));
	CK(cuMemGetInfo(&after, &total));
	return before <= total && before - during >= SIZE - SLOP && before - during <= SIZE + SLOP &&
	       after + SLOP >= before && after <= before + SLOP;
}

int main(void)
{
	int tries = 0;

	tk_start();
	while (!as_expected() && ++tries < 200)
		;
	puts(tries < 200 ? "adds up" : "does not add up");
}
