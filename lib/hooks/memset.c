/* Fills: refused past the end of a buffer, as natively; see lib/hooks/copy.c. */
#include "lib/hooks/hook.h"
#include "monitor/registry/layout.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/stand_in.h"
#include "lib/buffers/sync_memops.h"

/* A fill around its call: begin, the driver unless it is refused, end. */
struct fill {
	uint64_t dst;
	size_t size;
	CUstream stream; /* lib/buffers/sync_memops.h */
	const char *entry_point;
	bool refused;
	bool early; /* the asynchronous sibling is to be called: lib/buffers/stand_in.h */
};

/* size: bytes that it covers; one that overflows is for the driver to refuse, so it is passed as nothing. */
static struct fill fill_begin(uint64_t dst, size_t size, CUstream stream, const char *entry_point)
{
	bool refused = gmod_misuse_refuses(dst, size, entry_point);
	bool early = !refused && stream != GMOD_ASYNC && gmod_fill_returns_early(dst);

	return (struct fill){dst, size, stream, entry_point, refused, early};
}

static CUresult fill_end(const struct fill *f, CUresult r)
{
	if (r == CUDA_ERROR_INVALID_VALUE && gmod_on())
		gmod_misuse_refused(f->dst, f->size, f->entry_point, r);
	gmod_sync_memops(r, f->dst, 0, f->stream);
	gmod_active();
	return gmod_done(r, f->entry_point);
}

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
	struct fill f = fill_begin(dst, elements(count, 1), CU_STREAM_LEGACY, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD8Async)(dst, value, count, NULL)
				    : NEXT(cuMemsetD8_v2)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD8_v2_ptds(CUdeviceptr dst, unsigned char value, size_t count)
{
	struct fill f = fill_begin(dst, elements(count, 1), CU_STREAM_PER_THREAD, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD8Async_ptsz)(dst, value, count, NULL)
				    : NEXT(cuMemsetD8_v2_ptds)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr dst, unsigned short value, size_t count)
{
	struct fill f = fill_begin(dst, elements(count, 2), CU_STREAM_LEGACY, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD16Async)(dst, value, count, NULL)
				    : NEXT(cuMemsetD16_v2)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD16_v2_ptds(CUdeviceptr dst, unsigned short value, size_t count)
{
	struct fill f = fill_begin(dst, elements(count, 2), CU_STREAM_PER_THREAD, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD16Async_ptsz)(dst, value, count, NULL)
				    : NEXT(cuMemsetD16_v2_ptds)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int value, size_t count)
{
	struct fill f = fill_begin(dst, elements(count, 4), CU_STREAM_LEGACY, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD32Async)(dst, value, count, NULL)
				    : NEXT(cuMemsetD32_v2)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD32_v2_ptds(CUdeviceptr dst, unsigned int value, size_t count)
{
	struct fill f = fill_begin(dst, elements(count, 4), CU_STREAM_PER_THREAD, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD32Async_ptsz)(dst, value, count, NULL)
				    : NEXT(cuMemsetD32_v2_ptds)(dst, value, count));
}

GMOD_EXPORT CUresult cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 1, height), CU_STREAM_LEGACY, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD2D8Async)(dst, pitch, value, width, height, NULL)
				    : NEXT(cuMemsetD2D8_v2)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
					  size_t height)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 1, height), CU_STREAM_PER_THREAD, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD2D8Async_ptsz)(dst, pitch, value, width, height, NULL)
				    : NEXT(cuMemsetD2D8_v2_ptds)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D16_v2(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 2, height), CU_STREAM_LEGACY, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD2D16Async)(dst, pitch, value, width, height, NULL)
				    : NEXT(cuMemsetD2D16_v2)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
					   size_t height)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 2, height), CU_STREAM_PER_THREAD, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD2D16Async_ptsz)(dst, pitch, value, width, height, NULL)
				    : NEXT(cuMemsetD2D16_v2_ptds)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 4, height), CU_STREAM_LEGACY, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD2D32Async)(dst, pitch, value, width, height, NULL)
				    : NEXT(cuMemsetD2D32_v2)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
					   size_t height)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 4, height), CU_STREAM_PER_THREAD, __func__);

	if (f.refused)
		return GMOD_REFUSED;
	return fill_end(&f, f.early ? NEXT(cuMemsetD2D32Async_ptsz)(dst, pitch, value, width, height, NULL)
				    : NEXT(cuMemsetD2D32_v2_ptds)(dst, pitch, value, width, height));
}

GMOD_EXPORT CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
	struct fill f = fill_begin(dst, elements(count, 1), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED : fill_end(&f, NEXT(cuMemsetD8Async)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD8Async_ptsz(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
	struct fill f = fill_begin(dst, elements(count, 1), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED : fill_end(&f, NEXT(cuMemsetD8Async_ptsz)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
	struct fill f = fill_begin(dst, elements(count, 2), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED : fill_end(&f, NEXT(cuMemsetD16Async)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD16Async_ptsz(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
	struct fill f = fill_begin(dst, elements(count, 2), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED : fill_end(&f, NEXT(cuMemsetD16Async_ptsz)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
	struct fill f = fill_begin(dst, elements(count, 4), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED : fill_end(&f, NEXT(cuMemsetD32Async)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD32Async_ptsz(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
	struct fill f = fill_begin(dst, elements(count, 4), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED : fill_end(&f, NEXT(cuMemsetD32Async_ptsz)(dst, value, count, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height,
				       CUstream stream)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 1, height), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED
			 : fill_end(&f, NEXT(cuMemsetD2D8Async)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
					    size_t height, CUstream stream)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 1, height), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED
			 : fill_end(&f, NEXT(cuMemsetD2D8Async_ptsz)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
					size_t height, CUstream stream)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 2, height), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED
			 : fill_end(&f, NEXT(cuMemsetD2D16Async)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
					     size_t height, CUstream stream)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 2, height), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED
			 : fill_end(&f, NEXT(cuMemsetD2D16Async_ptsz)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height,
					CUstream stream)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 4, height), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED
			 : fill_end(&f, NEXT(cuMemsetD2D32Async)(dst, pitch, value, width, height, stream));
}

GMOD_EXPORT CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
					     size_t height, CUstream stream)
{
	struct fill f = fill_begin(dst, rows(pitch, width, 4, height), GMOD_ASYNC, __func__);

	return f.refused ? GMOD_REFUSED
			 : fill_end(&f, NEXT(cuMemsetD2D32Async_ptsz)(dst, pitch, value, width, height, stream));
}
