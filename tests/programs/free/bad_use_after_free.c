// options: backend=device:quarantine_mb=4:leak_check=1:log_path=report.log
// case: bad_use_after_free come_and_go, 16, 1, 1000 =>
//    use-after-free size 1000 offset +16 in make_buffer; suspect: k_flip
// case: bad_use_after_free_far come_and_go, 2000, 0, 5000 =>
//    use-after-free size 5000 offset +2000 in make_buffer; suspect: k_flip
// case: bad_use_after_free_large come_and_go, 16, 1, 3 << 20 =>
//    use-after-free size 3145728 offset +16 in make_buffer; suspect: k_flip
// case: bad_use_after_free_of_many many_come_and_go, 16, 1, 100 =>
//    use-after-free size 100 offset +16 in make_buffer; suspect: k_flip;
//    options: backend=device:quarantine_mb=64:leak_check=1:log_path=report.log
// case: bad_use_after_free_overrun overrun, 16, 1, 1000 =>
//    heap-buffer-overflow size 1000 offset +0 in make_buffer; use-after-free size 1000 offset +16 in make_buffer
// case: bad_use_after_free_twice come_and_go, -1, 0, 1000 => double-free size 1000 in main
// case: bad_use_after_free_async come_and_go, -2, 0, 1000 => double-free size 1000 in main
/*
 * A kernel writes to a buffer that the program has freed, be it most of what the quarantine may hold, or the program
 * frees it again: it is kept back, also where it has been overrun before, or many others have. What is near its start
 * is seen at once, what is further away when it goes, as others that have been freed take its place.
 */
#include "make_buffer.h"
#include "report_log.h"

static void come_and_go(CUdeviceptr unused TK_UNUSED, size_t of_that_size TK_UNUSED)
{
	for (int i = 0; i < 40; i++)
		CK(cuMemFree(make_buffer((size_t)1 << 18)));
}

/* As many as are kept back at most, however small they are. */
static TK_UNUSED void many_come_and_go(CUdeviceptr unused TK_UNUSED, size_t size)
{
	for (int i = 0; i < 4096; i++)
		CK(cuMemFree(make_buffer(size)));
}

static TK_UNUSED void overrun(CUdeviceptr p, size_t size)
{
	tk_flip(p, (long long)size, 4);
}

static int run(void (*before)(CUdeviceptr, size_t), int at, int at_once, size_t size)
{
	CUdeviceptr p = make_buffer(size);

	before(p, size);
	tk_flip(p, 0, 4);
	tk_sync();
	CK(cuMemFree(p));
	if (at == -1)
		EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	else if (at == -2)
		EXPECT(cuMemFreeAsync(p, NULL), CUDA_ERROR_INVALID_VALUE);
	else
		tk_flip(p, at, 4);
	tk_sync();
	if (at_once)
		REQUIRE(wait_for_report("that had been freed", 5000));
	come_and_go(p, size);
	return 0;
}

int main(void)
{
	return run(CASE);
}
