// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_flip
/* Between gmod_suspend() and as many gmod_continue() nothing is guarded or looked at; what was written is found then.
 */
#include "include/gmod.h"
#include "flip_rounds.h"
#include "make_buffer.h"

#pragma weak gmod_suspend
#pragma weak gmod_continue
#pragma weak gmod_get_stats

static struct gmod_stats stats_now(void)
{
	struct gmod_stats s = {.struct_size = sizeof(s)};

	gmod_get_stats(&s);
	return s;
}

static void await_findings(uint64_t count)
{
	double end = tk_ms() + 10000;

	while (stats_now().findings < count && tk_ms() < end)
		tk_sleep_ms(1);
	REQUIRE(stats_now().findings == count);
}

/* What is allocated meanwhile is native, of pools too, and nobody sees what is written behind p. */
static void use_while_suspended(CUdeviceptr p)
{
	struct gmod_stats before = stats_now(), after;
	CUstream stream = tk_stream();
	CUdeviceptr more, pooled;

	CK(cuMemAlloc(&more, 1000));
	CK(cuMemAllocAsync(&pooled, 1000, stream));
	tk_flip_on(stream, pooled, 0, 1000);
	CK(cuMemFreeAsync(pooled, stream));
	tk_flip(p, 1000, 4);
	flip_rounds(more, 30);
	CK(cuMemFree(more));
	after = stats_now();
	REQUIRE(after.buffers_guarded == before.buffers_guarded);
	REQUIRE(after.buffers_unguarded == before.buffers_unguarded + 1);
	REQUIRE(after.allocations_uncovered == before.allocations_uncovered + 1);
	REQUIRE(after.sweeps == before.sweeps);
	REQUIRE(after.findings == 0);
}

static void suspend(CUdeviceptr p)
{
	REQUIRE(gmod_continue() == GMOD_INVALID);
	REQUIRE(gmod_suspend() == GMOD_OK);
	REQUIRE(gmod_suspend() == GMOD_OK);
	use_while_suspended(p);
	REQUIRE(gmod_continue() == GMOD_OK);
	use_while_suspended(p);
	tk_flip(p, 1000, 4);
	tk_sync();
	REQUIRE(gmod_continue() == GMOD_OK);
	REQUIRE(gmod_continue() == GMOD_INVALID);
	await_findings(1);
}

int main(void)
{
	CUdeviceptr p = make_buffer(1000), guarded;

	flip_rounds(p, 3);
	if (gmod_suspend)
		suspend(p);
	else
		tk_flip(p, 1000, 4);
	guarded = make_buffer(1000);
	flip_rounds(guarded, 3);
	CK(cuMemFree(guarded));
	CK(cuMemFree(p));
}
