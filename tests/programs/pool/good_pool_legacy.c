// case: good_pool_legacy 0, 0
// case: good_pool_legacy_freed_at_once 1, 0
// case: bad_pool_legacy 0, 1 => heap-buffer-overflow size 1001 offset +0 in make_pooled
// case: bad_pool_legacy_freed_at_once 1, 1 => heap-buffer-overflow size 1001 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/*
 * A blocking stream waits for the host, while memory of the null stream is allocated, or freed by cuMemFree. That
 * orders nothing: another blocking stream goes on. Kernels and cuMemFreeAsync in the null stream do order, once nobody
 * waits for the host any more.
 */
#include "pooled.h"

static void goes_on(CUstream stream)
{
	double give_up = tk_ms() + 5000;

	tk_spin(stream, 0);
	while (cuStreamQuery(stream) != CUDA_SUCCESS && tk_ms() < give_up)
		tk_sleep_ms(1);
	REQUIRE(cuStreamQuery(stream) == CUDA_SUCCESS);
}

static void use_null_stream(int freed_at_once, int past)
{
	CUstream held, other;
	volatile int *flag;
	CUdeviceptr p = 0;

	CK(cuStreamCreate(&held, CU_STREAM_DEFAULT));
	CK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
	tk_spin(other, 0);
	tk_sync();
	if (freed_at_once) {
		p = make_pooled(SIZE, NULL);
		tk_spin(NULL, 0);
	}
	flag = hold(held);
	if (freed_at_once)
		CK(cuMemFree(p));
	else
		p = make_pooled(SIZE, NULL);
	goes_on(other);
	REQUIRE(cuStreamQuery(held) == CUDA_ERROR_NOT_READY);
	*flag = 1;
	if (!freed_at_once) {
		flip_end(p, SIZE, NULL, 0);
		CK(cuMemFreeAsync(p, NULL));
	}
	use_once(SIZE + 1, NULL, past);
	tk_sync();
}

int main(void)
{
	tk_start();
	use_null_stream(CASE);
	puts("done");
}
