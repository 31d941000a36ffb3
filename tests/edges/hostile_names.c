/* Each kernel of hostile names overruns a buffer: what is printed of them is up to the reports. */
#include "hostile.h"
#include "make_buffer.h"

int main(void)
{
	static const char *const names[] = {HOSTILE_0, HOSTILE_1, HOSTILE_2, HOSTILE_3};

	tk_start();
	for (int i = 0; i < 4; i++) {
		CUdeviceptr p = make_buffer(4096);
		long long off = 4096 + i;

		tk_launch(tk_kernel(names[i]), 1, 1, NULL, TK_ARGS(&p, &off));
		tk_sync();
		CK(cuMemFree(p));
	}
	puts("done");
}
