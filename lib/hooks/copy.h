/* What hooks of copies and fills share (lib/hooks/copy.c, lib/hooks/copy_batch.c, lib/hooks/memset.c). */
#ifndef GMOD_LIB_HOOKS_COPY_H
#define GMOD_LIB_HOOKS_COPY_H

#include "lib/hooks/hook.h"

/* A copy or fill around its call: begin, the driver unless it is refused, end. Addresses of which 0 stands for none. */
struct gmod_copy {
	uint64_t dst, src;
	size_t size;
	const char *entry_point;
	bool refused;
};

/* In front of what goes into that stream: buffers that wait for it are armed. */
void gmod_copy_arms(CUstream stream, enum gmod_flavour flavour);

/*
 * Arms what waits in the stream of an asynchronous copy or fill. Hooks pass the result where gmod_copy_begin() wants a
 * stream: it says that nothing is left to arm. _PTSZ: of that flavour.
 */
#define GMOD_ASYNC ((CUstream)NULL)
static inline CUstream gmod_into(CUstream stream, enum gmod_flavour flavour)
{
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.ordered, memory_order_relaxed) != 0, 0))
		gmod_copy_arms(stream, flavour);
	return GMOD_ASYNC;
}
#define INTO(stream) gmod_into(stream, GMOD_LEGACY)
#define INTO_PTSZ(stream) gmod_into(stream, GMOD_PER_THREAD)

/* One contiguous copy; an array has no address, and neither has what a fill takes its bytes from. */
struct gmod_copy gmod_copy_begin(uint64_t dst, uint64_t src, size_t size, CUstream stream, const char *entry_point);
CUresult gmod_copy_end(const struct gmod_copy *c, CUresult r);

/* One side of a copy of boxes, in bytes and rows; an array has no base. */
struct gmod_box_side {
	uint64_t base;
	size_t x, y, z, pitch, height;
};

struct gmod_box {
	struct gmod_box_side dst, src;
	size_t width, height, depth;
};

/* One piece of many by itself. */
bool gmod_copy_refused(uint64_t dst, uint64_t src, size_t size, const char *entry_point);
bool gmod_box_refused(const struct gmod_box *b, const char *entry_point);

#endif
