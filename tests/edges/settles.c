/*
 * The kernel that did the damage keeps running: the final report comes all the same, once nothing changes any more, and
 * the buffer's end is no news then.
 */
#include "make_buffer.h"
#include "report_log.h"

int main(void)
{
	long long off = 4096, count = 1;
	volatile int *go_on = tk_flag();
	CUdeviceptr p = make_buffer(4096);

	tk_launch(tk_kernel("k_flip_and_spin"), 1, 1, NULL, TK_ARGS(&p, &off, &count, &go_on));
	puts(wait_for_report("SUMMARY: GMOD: heap-buffer-overflow", 5000) ? "settled" : "not settled");
	*go_on = 1;
	tk_sync();
	CK(cuMemFree(p));
}
