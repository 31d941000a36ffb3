// options: max_overhead=100
// guarded: no
/* A pool that may have 64 MiB has room for two buffers of 32 MiB. */
#include "pooled.h"

int main(void)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .maxSize = (size_t)64 << 20};
	CUstream stream = tk_stream();
	CUmemoryPool pool;
	CUdeviceptr p[2];

	props.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = tk_device};
	CK(cuMemPoolCreate(&pool, &props));
	for (int i = 0; i < 2; i++)
		p[i] = make_from(pool, props.maxSize / 2, stream);
	for (int i = 0; i < 2; i++) {
		flip_end(p[i], props.maxSize / 2, stream, 0);
		CK(cuMemFreeAsync(p[i], stream));
	}
	CK(cuStreamSynchronize(stream));
	CK(cuMemPoolDestroy(pool));
	puts("done");
}
