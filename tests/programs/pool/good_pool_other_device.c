// options: max_overhead=100
// devices: 2
// guarded: no
/* Memory of a pool is asked for, and freed, in streams of another device than the current one, or than its own. */
#include "pooled.h"

static CUmemoryPool pool_of(CUdevice device)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED};
	CUmemoryPool pool;

	props.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
	CK(cuMemPoolCreate(&pool, &props));
	return pool;
}

static CUstream stream_of(CUdevice device)
{
	CUcontext context;
	CUstream stream;

	CK(cuDevicePrimaryCtxRetain(&context, device));
	CK(cuCtxSetCurrent(context));
	stream = tk_stream();
	CK(cuCtxSetCurrent(tk_context));
	return stream;
}

int main(void)
{
	CUstream home = tk_stream(), away;
	CUdevice second;
	CUdeviceptr p;

	if (cuDeviceGet(&second, 1) != CUDA_SUCCESS)
		tk_skip("one device only");
	away = stream_of(second);
	p = make_pooled(SIZE, away);
	CK(cuMemsetD8Async(p, 1, SIZE, away));
	CK(cuMemFreeAsync(p, away));
	CK(cuStreamSynchronize(away));

	/* Of the second device, which the first one does not reach; nobody uses it. */
	p = make_from(pool_of(second), SIZE, home);
	tk_spin(home, 0);
	CK(cuMemFreeAsync(p, home));

	p = make_pooled(SIZE, home);
	flip_end(p, SIZE, home, 0);
	order(home, away);
	CK(cuMemFreeAsync(p, away));
	CK(cuStreamSynchronize(away));
	tk_sync();
	puts("done");
}
