/* Fills: refused past the end of a buffer, as natively; see lib/hooks/copy.c. */
#include "lib/hooks/copy.h"
#include "monitor/registry/layout.h"

/* Bytes that a fill covers; what overflows is for the driver to refuse, so it is passed as nothing. */
static size_t elements(size_t count, size_t element)
{
	size_t size;

	return __builtin_mul_overflow(count, element, &size) ? 0 : size;
}

static size_t rows(size_t pitch, size_t width, size_t element, size_t height)
{
	size_t extent;

	return gmod_layout_extent(elements(width, element), height, pitch, 1, 0, &extent) ? extent : 0;
}

GMOD_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t count)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 1), CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD8_v2)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD8_v2_ptds(CUdeviceptr dst, unsigned char value, size_t count)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 1), CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD8_v2_ptds)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr dst, unsigned short value, size_t count)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 2), CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD16_v2)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD16_v2_ptds(CUdeviceptr dst, unsigned short value, size_t count)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 2), CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD16_v2_ptds)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int value, size_t count)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 4), CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD32_v2)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD32_v2_ptds(CUdeviceptr dst, unsigned int value, size_t count)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 4), CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD32_v2_ptds)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 1, height), CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD2D8_v2)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
					  size_t height)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 1, height), CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemsetD2D8_v2_ptds)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D16_v2(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 2, height), CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD2D16_v2)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
					   size_t height)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 2, height), CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemsetD2D16_v2_ptds)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 4, height), CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD2D32_v2)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
					   size_t height)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 4, height), CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemsetD2D32_v2_ptds)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 1), INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD8Async)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD8Async_ptsz(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 1), INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD8Async_ptsz)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 2), INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD16Async)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD16Async_ptsz(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 2), INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD16Async_ptsz)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 4), INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD32Async)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD32Async_ptsz(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, elements(count, 4), INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemsetD32Async_ptsz)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height,
				       CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 1, height), INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemsetD2D8Async)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
					    size_t height, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 1, height), INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemsetD2D8Async_ptsz)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
					size_t height, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 2, height), INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemsetD2D16Async)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
					     size_t height, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 2, height), INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemsetD2D16Async_ptsz)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height,
					CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 4, height), INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemsetD2D32Async)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
					     size_t height, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, rows(pitch, width, 4, height), INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemsetD2D32Async_ptsz)(dst, pitch, value, width, height, stream));
}
