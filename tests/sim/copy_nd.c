/* Copies of boxes: 2D and 3D. */
#include "sim.h"

/* One side of a 2D or 3D descriptor. */
struct corner {
	CUmemorytype type;
	const void *host;
	CUdeviceptr device;
	CUarray array;
	size_t x, y, z, pitch, height;
};

struct box {
	struct corner dst, src;
	size_t width, height, depth;
};

static CUresult operand_of(const struct corner *c, const struct box *b, struct operand *out)
{
	size_t pitch = c->pitch ? c->pitch : b->width, rows = c->height ? c->height : b->height;
	uintptr_t base = c->type == CU_MEMORYTYPE_HOST ? (uintptr_t)c->host : (uintptr_t)c->device;

	if (c->type == CU_MEMORYTYPE_ARRAY)
		return array_operand(c->array, c->x, c->y, c->z, out);
	if (c->type != CU_MEMORYTYPE_HOST && c->type != CU_MEMORYTYPE_DEVICE && c->type != CU_MEMORYTYPE_UNIFIED)
		return CUDA_ERROR_INVALID_VALUE;
	if (c->x + b->width > pitch || (b->depth > 1 && c->y + b->height > rows))
		return CUDA_ERROR_INVALID_VALUE;
	*out = (struct operand){
	    .type = c->type,
	    .at = base + c->z * pitch * rows + c->y * pitch + c->x,
	    .pitch = pitch,
	    .slice = pitch * rows,
	};
	return CUDA_SUCCESS;
}

static CUresult operands_of(const struct box *b, struct operand *dst, struct operand *src)
{
	return operand_of(&b->dst, b, dst) ?: operand_of(&b->src, b, src);
}

static CUresult submit(struct target to, struct box b)
{
	struct operand dst, src;

	if (!b.width || !b.height || !b.depth)
		return CUDA_SUCCESS;
	return operands_of(&b, &dst, &src) ?: copy_submit(to, &dst, &src, b.width, b.height, b.depth);
}

/* The three descriptors name their fields alike; the flat one lacks some. */
#define FLAT_CORNER(p, side) \
	.type = p->side##MemoryType, .host = p->side##Host, .device = p->side##Device, .array = p->side##Array, \
	.x = p->side##XInBytes, .y = p->side##Y, .pitch = p->side##Pitch
#define CORNER(p, side) FLAT_CORNER(p, side), .z = p->side##Z, .height = p->side##Height

static struct box box_2d(const CUDA_MEMCPY2D *p)
{
	return (struct box){{FLAT_CORNER(p, dst)}, {FLAT_CORNER(p, src)}, p->WidthInBytes, p->Height, 1};
}

static struct box box_3d(const CUDA_MEMCPY3D *p)
{
	return (struct box){{CORNER(p, dst)}, {CORNER(p, src)}, p->WidthInBytes, p->Height, p->Depth};
}

/* For graph nodes. */
CUresult copy_work_3d(const CUDA_MEMCPY3D *p, struct work *out)
{
	struct box b = box_3d(p);
	struct operand dst, src;

	return operands_of(&b, &dst, &src) ?: copy_check(&dst, &src, b.width, b.height, b.depth, out);
}

/* The contexts must only be there. */
static CUresult peers(struct target to, const CUDA_MEMCPY3D_PEER *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	if (!context_ok(p->dstContext) || !context_ok(p->srcContext))
		return CUDA_ERROR_INVALID_CONTEXT;
	return submit(to, (struct box){{CORNER(p, dst)}, {CORNER(p, src)}, p->WidthInBytes, p->Height, p->Depth});
}

#define BOXES(name, type, box_of) \
	ENTRY_TWINS(name##_v2, _ptds, NEEDS_CONTEXT, TAKES(const type *p), \
		    refuse_if(!p, CUDA_ERROR_INVALID_VALUE) ?: submit(waiting(&c), box_of(p))) \
	ENTRY_TWINS(name##Async_v2, _ptsz, NEEDS_CONTEXT, TAKES(const type *p, CUstream stream), \
		    refuse_if(!p, CUDA_ERROR_INVALID_VALUE) ?: submit(queued(&c, stream), box_of(p)))

BOXES(cuMemcpy2D, CUDA_MEMCPY2D, box_2d)
BOXES(cuMemcpy3D, CUDA_MEMCPY3D, box_3d)
ENTRY_TWINS(cuMemcpy2DUnaligned_v2, _ptds, NEEDS_CONTEXT, TAKES(const CUDA_MEMCPY2D *p),
	    refuse_if(!p, CUDA_ERROR_INVALID_VALUE) ?: submit(waiting(&c), box_2d(p)))
ENTRY_TWINS(cuMemcpy3DPeer, _ptds, NEEDS_CONTEXT, TAKES(const CUDA_MEMCPY3D_PEER *p), peers(waiting(&c), p))
ENTRY_TWINS(cuMemcpy3DPeerAsync, _ptsz, NEEDS_CONTEXT, TAKES(const CUDA_MEMCPY3D_PEER *p, CUstream stream),
	    peers(queued(&c, stream), p))
