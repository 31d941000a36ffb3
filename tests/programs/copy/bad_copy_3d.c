// expect: 2 x api-out-of-bounds size 6000 in make_buffer
// expect: 2 x api-out-of-bounds size 2000 in pinned_rows
/* Boxes that would fit if they began in the first slice, and rows of pinned memory of which the last does not fit. */
#include "make_buffer.h"

enum { W = 100, H = 20, D = 3 };

static __attribute__((noinline)) void *pinned_rows(void)
{
	return tk_pinned(W * H);
}

static CUDA_MEMCPY3D box(size_t z, size_t depth)
{
	return (CUDA_MEMCPY3D){.srcPitch = W,
			       .srcHeight = H,
			       .srcZ = z,
			       .dstPitch = W,
			       .dstHeight = H,
			       .dstZ = z,
			       .WidthInBytes = W,
			       .Height = H,
			       .Depth = depth};
}

static CUresult copy_in(CUdeviceptr p, size_t z, size_t depth)
{
	static unsigned char host[(D + 1) * H * W];
	CUDA_MEMCPY3D c = box(z, depth);

	c.srcMemoryType = CU_MEMORYTYPE_HOST;
	c.srcHost = host;
	c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	c.dstDevice = p;
	return cuMemcpy3D(&c);
}

static CUresult copy_within(CUdeviceptr p, CUdeviceptr larger, size_t z, size_t depth)
{
	CUDA_MEMCPY3D c = box(z, depth);

	c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	c.srcDevice = p;
	c.dstDevice = larger;
	return cuMemcpy3D(&c);
}

/* What lies between the slices of the one is not the other's. */
static CUresult copy_apart(CUdeviceptr p, CUdeviceptr larger)
{
	CUDA_MEMCPY3D c = box(0, D);

	c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	c.srcDevice = p;
	c.dstDevice = larger;
	c.dstHeight = 2 * H;
	return cuMemcpy3D(&c);
}

static CUresult copy_rows(void *rows, CUdeviceptr larger, CUmemorytype from, CUmemorytype to, size_t height)
{
	CUDA_MEMCPY2D c = {.srcPitch = W, .dstPitch = W, .WidthInBytes = W, .Height = height};

	c.srcMemoryType = from;
	c.dstMemoryType = to;
	c.srcHost = c.dstHost = rows;
	c.srcDevice = c.dstDevice = larger;
	return cuMemcpy2D(&c);
}

int main(void)
{
	CUdeviceptr p = make_buffer(W * H * D), larger = tk_alloc(2 * W * H * D);
	void *rows = pinned_rows();

	CK(copy_in(p, 1, D - 1));
	EXPECT(copy_in(p, 1, D), CUDA_ERROR_INVALID_VALUE);
	CK(copy_within(p, larger, 1, D - 1));
	EXPECT(copy_within(p, larger, 1, D), CUDA_ERROR_INVALID_VALUE);
	CK(copy_apart(p, larger));
	CK(copy_rows(rows, larger, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, H));
	EXPECT(copy_rows(rows, larger, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, H + 1), CUDA_ERROR_INVALID_VALUE);
	CK(copy_rows(rows, larger, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, H));
	EXPECT(copy_rows(rows, larger, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, H + 1), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFreeHost(rows));
	CK(cuMemFree(p));
	CK(cuMemFree(larger));
}
