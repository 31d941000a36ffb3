/* busy SECONDS: keeps the memory of the device busy with kernels of a few milliseconds; no fault. */
#include "common.h"
#include <stdlib.h>

int main(int count, char **words)
{
	uint64_t end = now_ns() + (count > 1 ? strtoull(words[1], NULL, 10) : 10) * 1000000000, n = 1 << 22;
	CUdeviceptr from, to;
	CUcontext context;
	CUmodule module;
	int times = 20;
	void *parameters[] = {&from, &to, &n, &times};

	must(cuInit(0), "cuInit");
	must(cuCtxCreate(&context, NULL, 0, 0), "cuCtxCreate");
	must(cuModuleLoad(&module, "kernels.fatbin"), "cuModuleLoad");
	must(cuMemAlloc(&from, n * 16), "cuMemAlloc");
	must(cuMemAlloc(&to, n * 16), "cuMemAlloc");
	while (now_ns() < end) {
		must(cuLaunchKernel(find_function(module, "bandwidth"), 1056, 1, 1, 256, 1, 1, 0, NULL, parameters,
				    NULL),
		     "bandwidth");
		must(cuCtxSynchronize(), "cuCtxSynchronize");
	}
	return 0;
}
