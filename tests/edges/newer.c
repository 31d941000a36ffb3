/* newer: asks a driver for what came with CUDA 14.0, twice, before it starts; then works as ever. */
#include "testkit.h"

int main(void)
{
	static const char *const names[] = {"cuMemAlloc", "cuMemFree", "cuLaunchHostFunc", "cuCtxGetDevice"};
	CUdriverProcAddressQueryResult result;
	void *found;

	for (unsigned i = 0; i < 8; i++)
		printf("%s: %d\n", names[i % 4], cuGetProcAddress(names[i % 4], &found, 14000, 0, &result));
	tk_alloc(1000);
	return 0;
}
