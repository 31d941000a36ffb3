/* Four host threads, each on its per-thread default stream. */
#include "runtime.cuh"
#include <thread>
#include <vector>

static void work(int size, float *last)
{
	for (int i = 0; i < 20; i++) {
		float *p = make_array(size + i);

		RT(cudaMemsetAsync(p, 0, (size + i) * sizeof(*p)));
		rt_fill<<<(size + i + 127) / 128, 128>>>(p, size + i);
		RT(cudaMemcpy(last, p + size + i - 1, sizeof(*last), cudaMemcpyDeviceToHost));
		RT(cudaFree(p));
	}
}

int main()
{
	std::vector<std::thread> threads;
	float last[4] = {};

	for (int i = 0; i < 4; i++)
		threads.emplace_back(work, 1000 * (i + 1), &last[i]);
	for (auto &thread : threads)
		thread.join();
	printf("%g %g %g %g\n", last[0], last[1], last[2], last[3]);
}
