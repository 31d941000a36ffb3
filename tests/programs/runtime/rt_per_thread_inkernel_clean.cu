/* Host threads on default streams of their own, whose kernels take turns with one heap. */
#include "runtime.cuh"

#include <thread>
#include <vector>

#include "include/gmod_device.cuh"

__global__ void rt_turn(int rounds, int *bad)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int r = 0; r < rounds; r++) {
		int size = (i * 31 + r * 17) % 400 + 1;
		char *p = (char *)mallocN(size);

		if (p)
			p[0] = p[size - 1] = (char)i;
		if (p && (p[0] != (char)i || p[size - 1] != (char)i))
			atomicAdd(bad, 1);
		freeN(p);
	}
}

static void work(int *bad)
{
	for (int i = 0; i < 10; i++)
		rt_turn<<<4, 64>>>(20, bad);
	RT(cudaStreamSynchronize(cudaStreamPerThread));
}

int main()
{
	std::vector<std::thread> threads;
	int *bad, result;

	RT(cudaMalloc(&bad, sizeof(*bad)));
	RT(cudaMemset(bad, 0, sizeof(*bad)));
	RT(cudaDeviceSynchronize());
	for (int i = 0; i < 4; i++)
		threads.emplace_back(work, bad);
	for (std::thread &t : threads)
		t.join();
	RT(cudaMemcpy(&result, bad, sizeof(result), cudaMemcpyDeviceToHost));
	printf("marks gone: %d\n", result);
}
