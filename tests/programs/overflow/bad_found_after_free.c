// case: bad_found_after_free_unified => options: backend=unified:log_path=report.log
// case: bad_found_after_free_managed => options: backend=managed:log_path=report.log
// expect: heap-buffer-overflow size 4194304 offset +0 in make_buffer
// suspect: k_flip
/*
 * A kernel writes behind one buffer. The program frees another one, which waits for that kernel, and then makes no
 * driver call, while it has to be found.
 */
#include "make_buffer.h"
#include "report_log.h"

int main(void)
{
	CUdeviceptr p, other;
	long long size = 4 << 20, count = 4;

	tk_start();
	tk_kernel("k_spin_ms");
	p = make_buffer((size_t)size);
	other = make_buffer((size_t)size);
	tk_flip(p, 0, 4);
	tk_sync();
	tk_sleep_ms(200);
	tk_spin(NULL, 1);
	tk_launch(tk_kernel("k_flip"), 1, 4, NULL, TK_ARGS(&p, &size, &count));
	CK(cuMemFree(other));
	REQUIRE(wait_for_report("past the end", 3000));
	CK(cuMemFree(p));
}
