/* What hooks of copies share (lib/hooks/copy.c, lib/hooks/copy_batch.c). */
#ifndef GMOD_LIB_COPIED_H
#define GMOD_LIB_COPIED_H

#include "lib/hooks/hook.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/sync_memops.h"

/* One contiguous copy; 0 stands for an array or nothing. */
static inline bool gmod_copy_refused(uint64_t dst, uint64_t src, uint64_t length, const char *entry_point)
{
	return gmod_misuse_refuses(dst, length, entry_point) || gmod_misuse_refuses(src, length, entry_point);
}

/* One of boxes, where neither side is an array. */
bool gmod_copy_3d_refused(const CUDA_MEMCPY3D *c, const char *entry_point);

/* The epilogue. */
static inline CUresult gmod_copied(CUresult r, uint64_t dst, uint64_t src, uint64_t length, const char *entry_point)
{
	if (r == CUDA_ERROR_INVALID_VALUE && gmod_on() && !gmod_misuse_refused(dst, length, entry_point, r))
		gmod_misuse_refused(src, length, entry_point, r);
	gmod_sync_memops(r, dst, src, entry_point);
	gmod_active();
	return gmod_done(r, entry_point);
}

#endif
