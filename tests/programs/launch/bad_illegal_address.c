// case: bad_illegal_address make_buffer(4000)
// case: bad_illegal_address_without_buffers (void)0
// case: bad_illegal_address_beside_many make_many()
// case: bad_illegal_address_after_overflow overrun() =>
//    post-mortem; heap-buffer-overflow size 4000 offset +96 in overrun;
//    options: scan_interval_us=60000000:log_path=report.log
// expect: post-mortem
// suspect: k_illegal
/*
 * A kernel stores to an address that nobody owns: the error the program gets is explained, and what has gone wrong
 * before comes first.
 */
#include "make_buffer.h"
#include "report_log.h"

static TK_UNUSED void make_many(void)
{
	for (size_t i = 1; i <= 12; i++)
		make_buffer(1000 + i);
	CK(cuMemFree(make_buffer(5000)));
}

static int overrun_before;

/* Managed memory is there to be looked at when the context is broken. The first sweep is over by then. */
static TK_UNUSED __attribute__((noinline)) void overrun(void)
{
	CUdeviceptr p;

	CK(cuMemAllocManaged(&p, 4000, CU_MEM_ATTACH_GLOBAL));
	tk_sleep_ms(100);
	tk_flip(p, 4096, 4);
	overrun_before = 1;
}

int main(void)
{
	CUdeviceptr wild = 16;
	int value = 1;

	tk_start();
	CASE;
	tk_launch(tk_kernel("k_illegal"), 1, 1, NULL, TK_ARGS(&wild, &value));
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	if (overrun_before)
		REQUIRE(wait_for_report("4000-byte buffer [finding 1", 2000));
}
