/*
 * Copies and fills. Past the end of a buffer they are refused, as natively: our redzones lie in the same allocation, so
 * the driver would let them through.
 */
#include <string.h>

#include "lib/buffers/misuse.h"
#include "lib/hooks/refuse.h"
#include "monitor/registry/layout.h"

/* ---- boxes ---- */

/* One side of a copy of boxes, in bytes and rows; an array has no base. */
struct side {
	uint64_t base;
	size_t x, y, z, pitch, height;
};

struct box {
	struct side dst, src;
	size_t width, height, depth;
};

static bool refuses_side(const struct side *s, const struct box *b, const char *entry_point)
{
	size_t slice, extent;

	if (!s->base || __builtin_mul_overflow(s->pitch, s->height, &slice) ||
	    !gmod_layout_extent(b->width, b->height, s->pitch, b->depth, slice, &extent))
		return false;
	return gmod_misuse_refuses(s->base + s->z * slice + s->y * s->pitch + s->x, extent, entry_point);
}

static bool refuses_box(const struct box *b, const char *entry_point)
{
	return refuses_side(&b->dst, b, entry_point) || refuses_side(&b->src, b, entry_point);
}

static uint64_t base_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
	return type == CU_MEMORYTYPE_ARRAY ? 0 : type == CU_MEMORYTYPE_HOST ? gmod_handle(host) : device;
}

static struct box box_of_rows(const CUDA_MEMCPY2D *c)
{
	return (struct box){
	    .dst = {base_of(c->dstMemoryType, c->dstHost, c->dstDevice), c->dstXInBytes, c->dstY, 0, c->dstPitch, 0},
	    .src = {base_of(c->srcMemoryType, c->srcHost, c->srcDevice), c->srcXInBytes, c->srcY, 0, c->srcPitch, 0},
	    .width = c->WidthInBytes,
	    .height = c->Height,
	    .depth = 1,
	};
}

static struct box box_of(const CUDA_MEMCPY3D *c)
{
	return (struct box){
	    .dst = {base_of(c->dstMemoryType, c->dstHost, c->dstDevice), c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch,
		    c->dstHeight},
	    .src = {base_of(c->srcMemoryType, c->srcHost, c->srcDevice), c->srcXInBytes, c->srcY, c->srcZ, c->srcPitch,
		    c->srcHeight},
	    .width = c->WidthInBytes,
	    .height = c->Height,
	    .depth = c->Depth,
	};
}

/* Contexts have the place of what is reserved in the other. */
_Static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER) &&
		   offsetof(CUDA_MEMCPY3D, srcPitch) == offsetof(CUDA_MEMCPY3D_PEER, srcPitch) &&
		   offsetof(CUDA_MEMCPY3D, dstPitch) == offsetof(CUDA_MEMCPY3D_PEER, dstPitch),
	       "copies between contexts are told as the others are");

bool gmod_refuses_rows(const CUDA_MEMCPY2D *c, const char *entry_point)
{
	struct box b = box_of_rows(c);

	return refuses_box(&b, entry_point);
}

bool gmod_refuses_box(const CUDA_MEMCPY3D *c, const char *entry_point)
{
	struct box b = box_of(c);

	return refuses_box(&b, entry_point);
}

bool gmod_refuses_peer_box(const CUDA_MEMCPY3D_PEER *c, const char *entry_point)
{
	CUDA_MEMCPY3D same;

	memcpy(&same, c, sizeof(same));
	return gmod_refuses_box(&same, entry_point);
}

/* ---- batches ---- */

static bool side_of(const CUmemcpy3DOperand *o, const CUextent3D *extent, struct side *out)
{
	out->base = o->op.ptr.ptr;
	out->pitch = o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width;
	out->height = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height;
	return o->type == CU_MEMCPY_OPERAND_TYPE_POINTER;
}

static bool refused_at(size_t i, size_t *failed)
{
	if (failed)
		*failed = i;
	return true;
}

/* false: an array is one side, so that widths are in its elements. The driver alone judges those. */
static bool box_of_op(const CUDA_MEMCPY3D_BATCH_OP *op, struct box *out)
{
	*out = (struct box){.width = op->extent.width, .height = op->extent.height, .depth = op->extent.depth};
	return side_of(&op->src, &op->extent, &out->src) && side_of(&op->dst, &op->extent, &out->dst);
}

bool gmod_refuses_boxes(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, size_t *failed, const char *entry_point)
{
	struct box b;

	for (size_t i = 0; ops && i < count; i++)
		if (box_of_op(&ops[i], &b) && refuses_box(&b, entry_point))
			return refused_at(i, failed);
	return false;
}

bool gmod_refuses_batch(const CUdeviceptr *dst, const CUdeviceptr *src, const size_t *sizes, size_t count,
			size_t *failed, const char *entry_point)
{
	for (size_t i = 0; dst && src && sizes && i < count; i++)
		if (gmod_misuse_refuses(dst[i], sizes[i], entry_point) ||
		    gmod_misuse_refuses(src[i], sizes[i], entry_point))
			return refused_at(i, failed);
	return false;
}

/* ---- fills ---- */

size_t gmod_size_of_fill(size_t width, size_t element, size_t height, size_t pitch)
{
	size_t extent;

	return !__builtin_mul_overflow(width, element, &width) &&
		       gmod_layout_extent(width, height, pitch, 1, 0, &extent)
		   ? extent
		   : 0;
}
