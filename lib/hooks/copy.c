/*
 * Copies. Past the end of a buffer they are refused, as natively: our redzones lie in the same allocation, so the
 * driver would let them through.
 */
#include "lib/hooks/copied.h"
#include "monitor/registry/layout.h"
#include "lib/buffers/stand_in.h"

/* A synchronous copy to the host has returned: what its stream had been given before it began is done. */
static void proves_default_stream(CUresult r, enum gmod_flavour flavour, uint64_t began)
{
	if (r == CUDA_SUCCESS && gmod_on())
		gmod_prove_stream(gmod_waited_stream(NULL, flavour), began);
}

/* One side of a 2-D or 3-D copy, as the descriptors have it. */
struct side {
	CUmemorytype type;
	const void *host;
	CUdeviceptr device;
	size_t x, y, z, pitch, height;
};

static bool refused_side(const struct side *s, size_t width, size_t height, size_t depth, const char *entry_point)
{
	uint64_t base = s->type == CU_MEMORYTYPE_HOST ? gmod_handle(s->host) : s->device;
	size_t slice, extent;

	if (s->type == CU_MEMORYTYPE_ARRAY || __builtin_mul_overflow(s->pitch, s->height, &slice) ||
	    !gmod_layout_extent(width, height, s->pitch, depth, slice, &extent))
		return false;
	return gmod_misuse_refuses(base + s->z * slice + s->y * s->pitch + s->x, extent, entry_point);
}

static bool refused_2d(const CUDA_MEMCPY2D *c, const char *entry_point)
{
	struct side src, dst;

	if (gmod_phase() == GMOD_OFF || !c)
		return false;
	src = (struct side){c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes, c->srcY, 0, c->srcPitch, 0};
	dst = (struct side){c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes, c->dstY, 0, c->dstPitch, 0};
	return refused_side(&dst, c->WidthInBytes, c->Height, 1, entry_point) ||
	       refused_side(&src, c->WidthInBytes, c->Height, 1, entry_point);
}

bool gmod_copy_3d_refused(const CUDA_MEMCPY3D *c, const char *entry_point)
{
	struct side src, dst;

	if (gmod_phase() == GMOD_OFF || !c)
		return false;
	src = (struct side){c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes,
			    c->srcY,          c->srcZ,    c->srcPitch,  c->srcHeight};
	dst = (struct side){c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes,
			    c->dstY,          c->dstZ,    c->dstPitch,  c->dstHeight};
	return refused_side(&dst, c->WidthInBytes, c->Height, c->Depth, entry_point) ||
	       refused_side(&src, c->WidthInBytes, c->Height, c->Depth, entry_point);
}

static bool refused_3d_peer(const CUDA_MEMCPY3D_PEER *c, const char *entry_point)
{
	struct side src, dst;

	if (gmod_phase() == GMOD_OFF || !c)
		return false;
	src = (struct side){c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes,
			    c->srcY,          c->srcZ,    c->srcPitch,  c->srcHeight};
	dst = (struct side){c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes,
			    c->dstY,          c->dstZ,    c->dstPitch,  c->dstHeight};
	return refused_side(&dst, c->WidthInBytes, c->Height, c->Depth, entry_point) ||
	       refused_side(&src, c->WidthInBytes, c->Height, c->Depth, entry_point);
}

/* See lib/buffers/stand_in.h: the default stream of the same flavour, given as NULL. */
#define COPY(now, later, dst, src, size) \
	(gmod_copy_returns_early(dst, src) ? NEXT(later)(dst, src, size, NULL) : NEXT(now)(dst, src, size))

GMOD_EXPORT CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
	if (gmod_copy_refused(dst, src, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(COPY(cuMemcpy, cuMemcpyAsync, dst, src, ByteCount), dst, src, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
	if (gmod_copy_refused(dst, src, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(COPY(cuMemcpy_ptds, cuMemcpyAsync_ptsz, dst, src, ByteCount), dst, src, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
	if (gmod_copy_refused(dst, src, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyAsync)(dst, src, ByteCount, hStream), dst, src, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
	if (gmod_copy_refused(dst, src, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyAsync_ptsz)(dst, src, ByteCount, hStream), dst, src, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
				  CUcontext srcContext, size_t ByteCount)
{
	if (gmod_copy_refused(dstDevice, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyPeer)(dstDevice, dstContext, srcDevice, srcContext, ByteCount), dstDevice,
			   srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyPeer_ptds(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
				       CUcontext srcContext, size_t ByteCount)
{
	if (gmod_copy_refused(dstDevice, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyPeer_ptds)(dstDevice, dstContext, srcDevice, srcContext, ByteCount), dstDevice,
			   srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
				       CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
	if (gmod_copy_refused(dstDevice, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyPeerAsync)(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream),
			   dstDevice, srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
					    CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
	if (gmod_copy_refused(dstDevice, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(
	    NEXT(cuMemcpyPeerAsync_ptsz)(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream), dstDevice,
	    srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
	if (gmod_copy_refused(dstDevice, gmod_handle(srcHost), ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyHtoD_v2)(dstDevice, srcHost, ByteCount), dstDevice, gmod_handle(srcHost),
			   ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
	if (gmod_copy_refused(dstDevice, gmod_handle(srcHost), ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyHtoD_v2_ptds)(dstDevice, srcHost, ByteCount), dstDevice, gmod_handle(srcHost),
			   ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
	uint64_t began = gmod_ticks();
	CUresult r;

	if (gmod_copy_refused(gmod_handle(dstHost), srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	r = NEXT(cuMemcpyDtoH_v2)(dstHost, srcDevice, ByteCount);
	proves_default_stream(r, GMOD_LEGACY, began);
	return gmod_copied(r, gmod_handle(dstHost), srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
	uint64_t began = gmod_ticks();
	CUresult r;

	if (gmod_copy_refused(gmod_handle(dstHost), srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	r = NEXT(cuMemcpyDtoH_v2_ptds)(dstHost, srcDevice, ByteCount);
	proves_default_stream(r, GMOD_PER_THREAD, began);
	return gmod_copied(r, gmod_handle(dstHost), srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
	if (gmod_copy_refused(dstDevice, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(COPY(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, dstDevice, srcDevice, ByteCount), dstDevice,
			   srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
	if (gmod_copy_refused(dstDevice, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(COPY(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoDAsync_v2_ptsz, dstDevice, srcDevice, ByteCount),
			   dstDevice, srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
	if (gmod_copy_refused(0, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyDtoA_v2)(dstArray, dstOffset, srcDevice, ByteCount), 0, srcDevice, ByteCount,
			   __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoA_v2_ptds(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
	if (gmod_copy_refused(0, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyDtoA_v2_ptds)(dstArray, dstOffset, srcDevice, ByteCount), 0, srcDevice,
			   ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	if (gmod_copy_refused(dstDevice, 0, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyAtoD_v2)(dstDevice, srcArray, srcOffset, ByteCount), dstDevice, 0, ByteCount,
			   __func__);
}

GMOD_EXPORT CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	if (gmod_copy_refused(dstDevice, 0, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyAtoD_v2_ptds)(dstDevice, srcArray, srcOffset, ByteCount), dstDevice, 0,
			   ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
	if (gmod_copy_refused(0, gmod_handle(srcHost), ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyHtoA_v2)(dstArray, dstOffset, srcHost, ByteCount), 0, gmod_handle(srcHost),
			   ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyHtoA_v2_ptds(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
	if (gmod_copy_refused(0, gmod_handle(srcHost), ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyHtoA_v2_ptds)(dstArray, dstOffset, srcHost, ByteCount), 0, gmod_handle(srcHost),
			   ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	if (gmod_copy_refused(gmod_handle(dstHost), 0, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyAtoH_v2)(dstHost, srcArray, srcOffset, ByteCount), gmod_handle(dstHost), 0,
			   ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyAtoH_v2_ptds(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	if (gmod_copy_refused(gmod_handle(dstHost), 0, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyAtoH_v2_ptds)(dstHost, srcArray, srcOffset, ByteCount), gmod_handle(dstHost), 0,
			   ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
				     size_t ByteCount)
{
	return gmod_copied(NEXT(cuMemcpyAtoA_v2)(dstArray, dstOffset, srcArray, srcOffset, ByteCount), 0, 0, 0,
			   __func__);
}

GMOD_EXPORT CUresult cuMemcpyAtoA_v2_ptds(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
					  size_t ByteCount)
{
	return gmod_copied(NEXT(cuMemcpyAtoA_v2_ptds)(dstArray, dstOffset, srcArray, srcOffset, ByteCount), 0, 0, 0,
			   __func__);
}

GMOD_EXPORT CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
					  CUstream hStream)
{
	if (gmod_copy_refused(0, gmod_handle(srcHost), ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyHtoAAsync_v2)(dstArray, dstOffset, srcHost, ByteCount, hStream), 0,
			   gmod_handle(srcHost), ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dstArray, size_t dstOffset, const void *srcHost,
					       size_t ByteCount, CUstream hStream)
{
	if (gmod_copy_refused(0, gmod_handle(srcHost), ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyHtoAAsync_v2_ptsz)(dstArray, dstOffset, srcHost, ByteCount, hStream), 0,
			   gmod_handle(srcHost), ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
					  CUstream hStream)
{
	if (gmod_copy_refused(gmod_handle(dstHost), 0, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyAtoHAsync_v2)(dstHost, srcArray, srcOffset, ByteCount, hStream),
			   gmod_handle(dstHost), 0, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
					       CUstream hStream)
{
	if (gmod_copy_refused(gmod_handle(dstHost), 0, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyAtoHAsync_v2_ptsz)(dstHost, srcArray, srcOffset, ByteCount, hStream),
			   gmod_handle(dstHost), 0, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D_v2 *pCopy)
{
	if (refused_2d(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy2D_v2)(pCopy), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D_v2 *pCopy)
{
	if (refused_2d(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy2D_v2_ptds)(pCopy), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D_v2 *pCopy)
{
	if (refused_2d(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy2DUnaligned_v2)(pCopy), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D_v2 *pCopy)
{
	if (refused_2d(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy2DUnaligned_v2_ptds)(pCopy), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D_v2 *pCopy)
{
	if (gmod_copy_3d_refused(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy3D_v2)(pCopy), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D_v2 *pCopy)
{
	if (gmod_copy_3d_refused(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy3D_v2_ptds)(pCopy), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER_v1 *pCopy)
{
	if (refused_3d_peer(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy3DPeer)(pCopy), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER_v1 *pCopy)
{
	if (refused_3d_peer(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy3DPeer_ptds)(pCopy), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
					  CUstream hStream)
{
	if (gmod_copy_refused(dstDevice, gmod_handle(srcHost), ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyHtoDAsync_v2)(dstDevice, srcHost, ByteCount, hStream), dstDevice,
			   gmod_handle(srcHost), ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
					       CUstream hStream)
{
	if (gmod_copy_refused(dstDevice, gmod_handle(srcHost), ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyHtoDAsync_v2_ptsz)(dstDevice, srcHost, ByteCount, hStream), dstDevice,
			   gmod_handle(srcHost), ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	if (gmod_copy_refused(gmod_handle(dstHost), srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyDtoHAsync_v2)(dstHost, srcDevice, ByteCount, hStream), gmod_handle(dstHost),
			   srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	if (gmod_copy_refused(gmod_handle(dstHost), srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyDtoHAsync_v2_ptsz)(dstHost, srcDevice, ByteCount, hStream),
			   gmod_handle(dstHost), srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
					  CUstream hStream)
{
	if (gmod_copy_refused(dstDevice, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyDtoDAsync_v2)(dstDevice, srcDevice, ByteCount, hStream), dstDevice, srcDevice,
			   ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
					       CUstream hStream)
{
	if (gmod_copy_refused(dstDevice, srcDevice, ByteCount, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpyDtoDAsync_v2_ptsz)(dstDevice, srcDevice, ByteCount, hStream), dstDevice,
			   srcDevice, ByteCount, __func__);
}

GMOD_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D_v2 *pCopy, CUstream hStream)
{
	if (refused_2d(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy2DAsync_v2)(pCopy, hStream), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D_v2 *pCopy, CUstream hStream)
{
	if (refused_2d(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy2DAsync_v2_ptsz)(pCopy, hStream), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D_v2 *pCopy, CUstream hStream)
{
	if (gmod_copy_3d_refused(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy3DAsync_v2)(pCopy, hStream), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D_v2 *pCopy, CUstream hStream)
{
	if (gmod_copy_3d_refused(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy3DAsync_v2_ptsz)(pCopy, hStream), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER_v1 *pCopy, CUstream hStream)
{
	if (refused_3d_peer(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy3DPeerAsync)(pCopy, hStream), 0, 0, 0, __func__);
}

GMOD_EXPORT CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER_v1 *pCopy, CUstream hStream)
{
	if (refused_3d_peer(pCopy, __func__))
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_copied(NEXT(cuMemcpy3DPeerAsync_ptsz)(pCopy, hStream), 0, 0, 0, __func__);
}
