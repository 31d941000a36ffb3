// case: bad_caught tk_stream(), 5, 0 => heap-buffer-overflow size 12345 offset +0 in make_buffer
// case: bad_caught_seldom tk_stream(), 20, 0 => heap-buffer-overflow size 12345 offset +0 in make_buffer
// case: bad_caught_legacy NULL, 5, 0 => heap-buffer-overflow size 12345 offset +0 in make_buffer
// case: bad_caught_far tk_stream(), 5, 2000 => heap-buffer-overflow size 12345 offset +2000 in make_buffer
// case: bad_caught_joined joined(), 5, 0 => heap-buffer-overflow size 12345 offset +0 in make_buffer
// says: heap-buffer-overflow: caught: k_fill
// options: log_path=report.log:backend=device
/* The same bytes are stored again and again: after the first finding one of its three suspects is caught. */
#include "steps.h"

/* The legacy stream, beside one that joins it. */
static TK_UNUSED CUstream joined(void)
{
	CUstream other;

	CK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
	return NULL;
}

static void run(CUdeviceptr p, CUstream stream, int each, long long past)
{
	int caught = step_until("caught: ", stream, p, each, STEP_SIZE + past);

	REQUIRE(caught);
	CK(cuMemFree(p));
}

int main(void)
{
	CUdeviceptr p = make_buffer(STEP_SIZE);

	run(p, CASE);
}
