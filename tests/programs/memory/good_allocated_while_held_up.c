// sim-env: SIM_STALL=copy:1:6000
// guarded: some
/* The first canaries take seconds to arrive, as behind a kernel that waits: the program's allocations do not wait for
 * them again and again. */
#include "make_buffer.h"

enum { COUNT = 1200 };

int main(void)
{
	CUdeviceptr p[COUNT];
	double began;

	tk_start();
	began = tk_ms();
	for (int i = 0; i < COUNT; i++)
		p[i] = make_buffer(1000);
	REQUIRE(tk_ms() - began < 5000);
	for (int i = 0; i < COUNT; i++)
		CK(cuMemFree(p[i]));
	puts("done");
}
