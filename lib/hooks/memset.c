/* Fills: refused past the end of a buffer, as natively; see hooks_copy.c. */
#include "lib/hooks/hook.h"
#include "monitor/registry/layout.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/stand_in.h"
#include "lib/buffers/sync_memops.h"

static CUresult filled(CUresult r, uint64_t address, size_t length, const char *entry_point)
{
	if (r == CUDA_ERROR_INVALID_VALUE && gmod_on())
		gmod_misuse_refused(address, length, entry_point, r);
	gmod_sync_memops(r, address, 0, entry_point);
	gmod_active();
	return gmod_done(r, entry_point);
}

/* Bytes a fill covers; a count that overflows is for the driver to refuse, so it is passed as nothing. */
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

/* See lib/buffers/stand_in.h: the default stream of the same flavour, given as NULL. */
#define FILL(now, later, dst, ...) \
	(gmod_fill_returns_early(dst) ? NEXT(later)(dst, __VA_ARGS__, NULL) : NEXT(now)(dst, __VA_ARGS__))

GMOD_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
	if (gmod_misuse_refuses(dstDevice, N, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD8_v2, cuMemsetD8Async, dstDevice, uc, N), dstDevice, N, __func__);
}

GMOD_EXPORT CUresult cuMemsetD8_v2_ptds(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
	if (gmod_misuse_refuses(dstDevice, N, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD8_v2_ptds, cuMemsetD8Async_ptsz, dstDevice, uc, N), dstDevice, N, __func__);
}

GMOD_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
	size_t size = elements(N, 2);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD16_v2, cuMemsetD16Async, dstDevice, us, N), dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD16_v2_ptds(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
	size_t size = elements(N, 2);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD16_v2_ptds, cuMemsetD16Async_ptsz, dstDevice, us, N), dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
	size_t size = elements(N, 4);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD32_v2, cuMemsetD32Async, dstDevice, ui, N), dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD32_v2_ptds(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
	size_t size = elements(N, 4);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD32_v2_ptds, cuMemsetD32Async_ptsz, dstDevice, ui, N), dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
				     size_t Height)
{
	size_t size = rows(dstPitch, Width, 1, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD2D8_v2, cuMemsetD2D8Async, dstDevice, dstPitch, uc, Width, Height), dstDevice, size,
		      __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
					  size_t Height)
{
	size_t size = rows(dstPitch, Width, 1, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD2D8_v2_ptds, cuMemsetD2D8Async_ptsz, dstDevice, dstPitch, uc, Width, Height),
		      dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
				      size_t Height)
{
	size_t size = rows(dstPitch, Width, 2, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD2D16_v2, cuMemsetD2D16Async, dstDevice, dstPitch, us, Width, Height), dstDevice,
		      size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
					   size_t Height)
{
	size_t size = rows(dstPitch, Width, 2, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD2D16_v2_ptds, cuMemsetD2D16Async_ptsz, dstDevice, dstPitch, us, Width, Height),
		      dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
				      size_t Height)
{
	size_t size = rows(dstPitch, Width, 4, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD2D32_v2, cuMemsetD2D32Async, dstDevice, dstPitch, ui, Width, Height), dstDevice,
		      size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
					   size_t Height)
{
	size_t size = rows(dstPitch, Width, 4, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(FILL(cuMemsetD2D32_v2_ptds, cuMemsetD2D32Async_ptsz, dstDevice, dstPitch, ui, Width, Height),
		      dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	if (gmod_misuse_refuses(dstDevice, N, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD8Async)(dstDevice, uc, N, hStream), dstDevice, N, __func__);
}

GMOD_EXPORT CUresult cuMemsetD8Async_ptsz(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	if (gmod_misuse_refuses(dstDevice, N, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD8Async_ptsz)(dstDevice, uc, N, hStream), dstDevice, N, __func__);
}

GMOD_EXPORT CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
	size_t size = elements(N, 2);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD16Async)(dstDevice, us, N, hStream), dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD16Async_ptsz(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
	size_t size = elements(N, 2);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD16Async_ptsz)(dstDevice, us, N, hStream), dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
	size_t size = elements(N, 4);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD32Async)(dstDevice, ui, N, hStream), dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD32Async_ptsz(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
	size_t size = elements(N, 4);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD32Async_ptsz)(dstDevice, ui, N, hStream), dstDevice, size, __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
				       size_t Height, CUstream hStream)
{
	size_t size = rows(dstPitch, Width, 1, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD2D8Async)(dstDevice, dstPitch, uc, Width, Height, hStream), dstDevice, size,
		      __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
					    size_t Height, CUstream hStream)
{
	size_t size = rows(dstPitch, Width, 1, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD2D8Async_ptsz)(dstDevice, dstPitch, uc, Width, Height, hStream), dstDevice, size,
		      __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
					size_t Height, CUstream hStream)
{
	size_t size = rows(dstPitch, Width, 2, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD2D16Async)(dstDevice, dstPitch, us, Width, Height, hStream), dstDevice, size,
		      __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
					     size_t Height, CUstream hStream)
{
	size_t size = rows(dstPitch, Width, 2, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD2D16Async_ptsz)(dstDevice, dstPitch, us, Width, Height, hStream), dstDevice, size,
		      __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
					size_t Height, CUstream hStream)
{
	size_t size = rows(dstPitch, Width, 4, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD2D32Async)(dstDevice, dstPitch, ui, Width, Height, hStream), dstDevice, size,
		      __func__);
}

GMOD_EXPORT CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
					     size_t Height, CUstream hStream)
{
	size_t size = rows(dstPitch, Width, 4, Height);

	if (gmod_misuse_refuses(dstDevice, size, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return filled(NEXT(cuMemsetD2D32Async_ptsz)(dstDevice, dstPitch, ui, Width, Height, hStream), dstDevice, size,
		      __func__);
}
