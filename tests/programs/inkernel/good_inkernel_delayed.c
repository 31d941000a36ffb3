// options: device_heap_mb=16:device_free_delay=30000
/* Without a guard, of what is to be kept back for long only a part is: kernels always get memory, small pieces too. */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_stop

int main(void)
{
	static long long sizes[] = {1, 24, 1000, 20000, 100000};
	long long rounds = 20000;
	CUdeviceptr none = 0;

	ik_alloc(1, 1);
	tk_sync();
	REQUIRE(!gmod_device_stop || gmod_device_stop() == GMOD_OK);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++, rounds = 1000) {
		CUdeviceptr missing = ik_counter();

		tk_launch(ik_kernel("d_pairs"), 1, 32, NULL, TK_ARGS(&rounds, &sizes[i], &missing, &none));
		printf("%lld bytes, not got: %d\n", sizes[i], ik_count(missing));
	}
}
