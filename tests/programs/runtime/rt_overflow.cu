// case: rt_shared_overflow cudaDeviceSynchronize()
// case: rt_static_overflow cudaDeviceSynchronize()
// case: rt_per_thread_overflow cudaStreamSynchronize(cudaStreamPerThread)
// expect: heap-buffer-overflow size 4000 offset +2 in make_array
// suspect: rt_fill
/*
 * The CUDA runtime as a shared library; linked statically, where it asks the driver for everything by cuGetProcAddress;
 * and compiled for per-thread default streams.
 */
#include "runtime.cuh"

int main()
{
	float *p = make_array(1000);

	rt_fill<<<8, 128>>>(p, 1001);
	RT(CASE);
	RT(cudaFree(p));
}
