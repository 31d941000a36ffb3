// expect: heap-buffer-overflow size 4000 offset +2 in make_array
// suspect: rt_fill
/* Compiled for per-thread default streams. */
#include "runtime.cuh"

int main()
{
	float *p = make_array(1000);

	rt_fill<<<8, 128>>>(p, 1001);
	RT(cudaStreamSynchronize(cudaStreamPerThread));
	RT(cudaFree(p));
	return 0;
}
