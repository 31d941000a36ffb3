// case: good_pool_legacy 0
// case: bad_pool_legacy 1 => heap-buffer-overflow size 1001 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
// guarded: no
/*
 * A blocking stream waits for the host, while memory is allocated in the null stream. That orders nothing: another
 * blocking stream goes on. Kernels and the free in the null stream do order, once nobody waits for the host any more.
 */
#include "pooled.h"

int main(void)
{
	double give_up = tk_ms() + 10000;
	CUstream held, other;
	volatile int *flag;
	CUdeviceptr p;

	tk_start();
	CK(cuStreamCreate(&held, CU_STREAM_DEFAULT));
	CK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
	tk_spin(other, 0);
	tk_sync();
	flag = hold(held);
	p = make_pooled(SIZE, NULL);
	tk_spin(other, 0);
	while (cuStreamQuery(other) != CUDA_SUCCESS && tk_ms() < give_up)
		tk_sleep_ms(1);
	REQUIRE(cuStreamQuery(other) == CUDA_SUCCESS);
	REQUIRE(cuStreamQuery(held) == CUDA_ERROR_NOT_READY);
	*flag = 1;
	flip_end(p, SIZE, NULL, 0);
	CK(cuMemFreeAsync(p, NULL));
	use_once(SIZE + 1, NULL, CASE);
	tk_sync();
	puts("done");
}
