/*
 * Copies. Past the end of a buffer they are refused, as natively: our redzones lie in the same allocation, so the
 * driver would let them through.
 */
#include <string.h>

#include "lib/context/capture.h"
#include "lib/context/current.h"
#include "lib/hooks/copy.h"
#include "lib/buffers/misuse.h"
#include "monitor/registry/layout.h"

bool gmod_copy_refused(uint64_t dst, uint64_t src, size_t size, const char *entry_point)
{
	return gmod_misuse_refuses(dst, size, entry_point) || gmod_misuse_refuses(src, size, entry_point);
}

void gmod_copy_arms(CUstream stream, enum gmod_flavour flavour)
{
	struct gmod_order in = gmod_order_of(stream, flavour);

	if (!gmod_is_captured(stream, flavour))
		gmod_ordered_arm(&in);
}

/* The default stream that a synchronous one is in; for others gmod_into() has done it. */
static void arms(CUstream stream)
{
	if (stream != GMOD_ASYNC)
		gmod_into(stream, GMOD_LEGACY);
}

struct gmod_copy gmod_copy_begin(uint64_t dst, uint64_t src, size_t size, CUstream stream, const char *entry_point)
{
	arms(stream);
	return (struct gmod_copy){dst, src, size, entry_point, gmod_copy_refused(dst, src, size, entry_point)};
}

CUresult gmod_copy_end(const struct gmod_copy *c, CUresult r)
{
	if (r == CUDA_ERROR_INVALID_VALUE && gmod_on() && !gmod_misuse_refused(c->dst, c->size, c->entry_point, r))
		gmod_misuse_refused(c->src, c->size, c->entry_point, r);
	gmod_noted();
	return gmod_done(r, c->entry_point);
}

static bool refused_side(const struct gmod_box_side *s, const struct gmod_box *b, const char *entry_point)
{
	size_t slice, extent;

	if (!s->base || __builtin_mul_overflow(s->pitch, s->height, &slice) ||
	    !gmod_layout_extent(b->width, b->height, s->pitch, b->depth, slice, &extent))
		return false;
	return gmod_misuse_refuses(s->base + s->z * slice + s->y * s->pitch + s->x, extent, entry_point);
}

bool gmod_box_refused(const struct gmod_box *b, const char *entry_point)
{
	return refused_side(&b->dst, b, entry_point) || refused_side(&b->src, b, entry_point);
}

/* It is not one piece: a refusal of the driver's does not say where it ends. */
static struct gmod_copy box_begin(const struct gmod_box *b, CUstream stream, const char *entry_point)
{
	bool refused = gmod_box_refused(b, entry_point);

	arms(stream);
	return (struct gmod_copy){.entry_point = entry_point, .refused = refused};
}

static uint64_t base_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
	return type == CU_MEMORYTYPE_ARRAY ? 0 : type == CU_MEMORYTYPE_HOST ? gmod_handle(host) : device;
}

static struct gmod_copy begin_2d(const CUDA_MEMCPY2D *c, CUstream stream, const char *entry_point)
{
	struct gmod_box b = {.width = 0};

	if (gmod_phase() != GMOD_OFF && c)
		b = (struct gmod_box){
		    .dst = {base_of(c->dstMemoryType, c->dstHost, c->dstDevice), c->dstXInBytes, c->dstY, 0,
			    c->dstPitch, 0},
		    .src = {base_of(c->srcMemoryType, c->srcHost, c->srcDevice), c->srcXInBytes, c->srcY, 0,
			    c->srcPitch, 0},
		    .width = c->WidthInBytes,
		    .height = c->Height,
		    .depth = 1,
		};
	return box_begin(&b, stream, entry_point);
}

static struct gmod_copy begin_3d(const CUDA_MEMCPY3D *c, CUstream stream, const char *entry_point)
{
	struct gmod_box b = {.width = 0};

	if (gmod_phase() != GMOD_OFF && c)
		b = (struct gmod_box){
		    .dst = {base_of(c->dstMemoryType, c->dstHost, c->dstDevice), c->dstXInBytes, c->dstY, c->dstZ,
			    c->dstPitch, c->dstHeight},
		    .src = {base_of(c->srcMemoryType, c->srcHost, c->srcDevice), c->srcXInBytes, c->srcY, c->srcZ,
			    c->srcPitch, c->srcHeight},
		    .width = c->WidthInBytes,
		    .height = c->Height,
		    .depth = c->Depth,
		};
	return box_begin(&b, stream, entry_point);
}

/* Contexts have the place of what is reserved in the other. */
_Static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER) &&
		   offsetof(CUDA_MEMCPY3D, srcPitch) == offsetof(CUDA_MEMCPY3D_PEER, srcPitch) &&
		   offsetof(CUDA_MEMCPY3D, dstPitch) == offsetof(CUDA_MEMCPY3D_PEER, dstPitch),
	       "copies between contexts are told as the others are");

static struct gmod_copy begin_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream stream, const char *entry_point)
{
	CUDA_MEMCPY3D same = {.Depth = 0};

	if (gmod_phase() != GMOD_OFF && c)
		memcpy(&same, c, sizeof(same));
	return begin_3d(&same, stream, entry_point);
}

/*
 * A synchronous copy to the host has returned: what its stream had been given before it began is done, unless there was
 * nothing to copy and so nothing to wait for.
 */
static CUresult copy_to_host(void *dst, CUdeviceptr src, size_t size, CUstream stream, PFN_cuMemcpyDtoH_v3020 next,
			     const char *entry_point)
{
	uint64_t began = gmod_ticks();
	struct gmod_copy c = gmod_copy_begin(gmod_handle(dst), src, size, stream, entry_point);
	CUresult r;

	if (c.refused)
		return GMOD_REFUSED;
	r = next(dst, src, size);
	if (r == CUDA_SUCCESS && size && gmod_on())
		gmod_prove_stream(gmod_waited_stream(stream, GMOD_LEGACY), began);
	return gmod_copy_end(&c, r);
}

GMOD_EXPORT CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy)(dst, src, size));
}

GMOD_EXPORT CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy_ptds)(dst, src, size));
}

GMOD_EXPORT CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyAsync)(dst, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyAsync_ptsz)(dst, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyPeer)(dst, to, src, from, size));
}

GMOD_EXPORT CUresult cuMemcpyPeer_ptds(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyPeer_ptds)(dst, to, src, from, size));
}

GMOD_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size,
				       CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyPeerAsync)(dst, to, src, from, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size,
					    CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpyPeerAsync_ptsz)(dst, to, src, from, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, gmod_handle(src), size, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyHtoD_v2)(dst, src, size));
}

GMOD_EXPORT CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dst, const void *src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, gmod_handle(src), size, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyHtoD_v2_ptds)(dst, src, size));
}

GMOD_EXPORT CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t size)
{
	return copy_to_host(dst, src, size, CU_STREAM_LEGACY, NEXT(cuMemcpyDtoH_v2), __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoH_v2_ptds(void *dst, CUdeviceptr src, size_t size)
{
	return copy_to_host(dst, src, size, CU_STREAM_PER_THREAD, NEXT(cuMemcpyDtoH_v2_ptds), __func__);
}

GMOD_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyDtoD_v2)(dst, src, size));
}

GMOD_EXPORT CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyDtoD_v2_ptds)(dst, src, size));
}

GMOD_EXPORT CUresult cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(0, src, size, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyDtoA_v2)(dst, offset, src, size));
}

GMOD_EXPORT CUresult cuMemcpyDtoA_v2_ptds(CUarray dst, size_t offset, CUdeviceptr src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(0, src, size, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyDtoA_v2_ptds)(dst, offset, src, size));
}

GMOD_EXPORT CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, size, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyAtoD_v2)(dst, src, offset, size));
}

GMOD_EXPORT CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dst, CUarray src, size_t offset, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(dst, 0, size, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyAtoD_v2_ptds)(dst, src, offset, size));
}

GMOD_EXPORT CUresult cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void *src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(0, gmod_handle(src), size, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyHtoA_v2)(dst, offset, src, size));
}

GMOD_EXPORT CUresult cuMemcpyHtoA_v2_ptds(CUarray dst, size_t offset, const void *src, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(0, gmod_handle(src), size, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyHtoA_v2_ptds)(dst, offset, src, size));
}

GMOD_EXPORT CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t offset, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(gmod_handle(dst), 0, size, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyAtoH_v2)(dst, src, offset, size));
}

GMOD_EXPORT CUresult cuMemcpyAtoH_v2_ptds(void *dst, CUarray src, size_t offset, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(gmod_handle(dst), 0, size, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyAtoH_v2_ptds)(dst, src, offset, size));
}

GMOD_EXPORT CUresult cuMemcpyAtoA_v2(CUarray dst, size_t to, CUarray src, size_t from, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(0, 0, 0, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyAtoA_v2)(dst, to, src, from, size));
}

GMOD_EXPORT CUresult cuMemcpyAtoA_v2_ptds(CUarray dst, size_t to, CUarray src, size_t from, size_t size)
{
	struct gmod_copy c = gmod_copy_begin(0, 0, 0, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyAtoA_v2_ptds)(dst, to, src, from, size));
}

GMOD_EXPORT CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void *src, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(0, gmod_handle(src), size, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyHtoAAsync_v2)(dst, offset, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dst, size_t offset, const void *src, size_t size,
					       CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(0, gmod_handle(src), size, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpyHtoAAsync_v2_ptsz)(dst, offset, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t offset, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(gmod_handle(dst), 0, size, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyAtoHAsync_v2)(dst, src, offset, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dst, CUarray src, size_t offset, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(gmod_handle(dst), 0, size, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED
			 : gmod_copy_end(&c, NEXT(cuMemcpyAtoHAsync_v2_ptsz)(dst, src, offset, size, stream));
}

GMOD_EXPORT CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy)
{
	struct gmod_copy c = begin_2d(copy, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy2D_v2)(copy));
}

GMOD_EXPORT CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy)
{
	struct gmod_copy c = begin_2d(copy, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy2D_v2_ptds)(copy));
}

GMOD_EXPORT CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy)
{
	struct gmod_copy c = begin_2d(copy, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy2DUnaligned_v2)(copy));
}

GMOD_EXPORT CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *copy)
{
	struct gmod_copy c = begin_2d(copy, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy2DUnaligned_v2_ptds)(copy));
}

GMOD_EXPORT CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy)
{
	struct gmod_copy c = begin_3d(copy, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy3D_v2)(copy));
}

GMOD_EXPORT CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *copy)
{
	struct gmod_copy c = begin_3d(copy, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy3D_v2_ptds)(copy));
}

GMOD_EXPORT CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy)
{
	struct gmod_copy c = begin_3d_peer(copy, CU_STREAM_LEGACY, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy3DPeer)(copy));
}

GMOD_EXPORT CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *copy)
{
	struct gmod_copy c = begin_3d_peer(copy, CU_STREAM_PER_THREAD, __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy3DPeer_ptds)(copy));
}

GMOD_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, gmod_handle(src), size, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyHtoDAsync_v2)(dst, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dst, const void *src, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, gmod_handle(src), size, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyHtoDAsync_v2_ptsz)(dst, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(gmod_handle(dst), src, size, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyDtoHAsync_v2)(dst, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(gmod_handle(dst), src, size, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyDtoHAsync_v2_ptsz)(dst, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyDtoDAsync_v2)(dst, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
	struct gmod_copy c = gmod_copy_begin(dst, src, size, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpyDtoDAsync_v2_ptsz)(dst, src, size, stream));
}

GMOD_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream)
{
	struct gmod_copy c = begin_2d(copy, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy2DAsync_v2)(copy, stream));
}

GMOD_EXPORT CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream)
{
	struct gmod_copy c = begin_2d(copy, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy2DAsync_v2_ptsz)(copy, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream)
{
	struct gmod_copy c = begin_3d(copy, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy3DAsync_v2)(copy, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *copy, CUstream stream)
{
	struct gmod_copy c = begin_3d(copy, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy3DAsync_v2_ptsz)(copy, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
	struct gmod_copy c = begin_3d_peer(copy, INTO(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy3DPeerAsync)(copy, stream));
}

GMOD_EXPORT CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
	struct gmod_copy c = begin_3d_peer(copy, INTO_PTSZ(stream), __func__);

	return c.refused ? GMOD_REFUSED : gmod_copy_end(&c, NEXT(cuMemcpy3DPeerAsync_ptsz)(copy, stream));
}
