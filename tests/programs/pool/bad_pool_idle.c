// case: bad_pool_idle_filled_late filled_late
// case: bad_pool_idle_seen_before seen_before
// case: bad_pool_idle_checked checked
// options: max_overhead=100:log_path=report.log
// expect: heap-buffer-overflow size 1000 offset +0 in make_pooled
// suspect: k_flip
/* The last kernel overruns a buffer, and nothing more happens: the monitor looks once more before it sleeps. */
#include "include/gmod.h"
#include "pooled.h"
#include "report_log.h"

#pragma weak gmod_check

static CUstream stream;

static void overrun(CUdeviceptr p)
{
	flip_end(p, SIZE, stream, 1);
	CK(cuStreamSynchronize(stream));
}

/* The monitor came by before the fill was done. The heartbeat of 1 s that pinned memory gives would be too late. */
static TK_UNUSED void filled_late(void)
{
	volatile int *flag = hold(stream);
	CUdeviceptr p = make_pooled(SIZE, stream);

	flip_end(p, SIZE, stream, 1);
	tk_sleep_ms(50);
	*flag = 1;
	CK(cuStreamSynchronize(stream));
	REQUIRE(wait_for_report("past the end", 800));
	CK(cuMemFreeAsync(p, stream));
}

/* The monitor has looked not long ago. */
static TK_UNUSED void seen_before(void)
{
	CUdeviceptr p = make_pooled(SIZE, stream);
	double end = tk_ms() + 350;

	while (tk_ms() < end) {
		flip_end(p, SIZE, stream, 0);
		CK(cuStreamSynchronize(stream));
	}
	overrun(p);
	REQUIRE(wait_for_report("past the end", 5000));
	CK(cuMemFreeAsync(p, stream));
}

static TK_UNUSED void checked(void)
{
	CUdeviceptr p = make_pooled(SIZE, stream);

	flip_end(p, SIZE, stream, 0);
	CK(cuStreamSynchronize(stream));
	tk_sleep_ms(500);
	if (gmod_check)
		REQUIRE(gmod_check() == GMOD_OK);
	overrun(p);
	REQUIRE(wait_for_report("past the end", 5000));
	CK(cuMemFreeAsync(p, stream));
}

int main(void)
{
	stream = tk_stream();
	CASE();
	tk_sync();
}
