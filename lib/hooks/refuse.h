/*
 * Which copies, fills and other calls the driver must not see: past the end of a buffer lies memory of ours that it
 * would take them on. Each that is refused here is refused natively, too. true: refused, and reported but for advice.
 */
#ifndef GMOD_LIB_HOOKS_REFUSE_H
#define GMOD_LIB_HOOKS_REFUSE_H

#include "lib/driver/driver.h"

/* lib/hooks/copy.c: where the program passes NULL, the driver decides. */
bool gmod_refuses_rows(const CUDA_MEMCPY2D *c, const char *entry_point);
bool gmod_refuses_box(const CUDA_MEMCPY3D *c, const char *entry_point);
bool gmod_refuses_peer_box(const CUDA_MEMCPY3D_PEER *c, const char *entry_point);
/* A batch is refused as a whole; *failed, unless that is NULL, is the first one. */
bool gmod_refuses_batch(const CUdeviceptr *dst, const CUdeviceptr *src, const size_t *sizes, size_t count,
			size_t *failed, const char *entry_point);
bool gmod_refuses_boxes(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, size_t *failed, const char *entry_point);
/* In bytes, from the first to the last, of rows of so many elements; what overflows is for the driver to refuse: 0. */
size_t gmod_size_of_fill(size_t width, size_t element, size_t height, size_t pitch);

/* lib/hooks/memops.c */
bool gmod_refuses_words(const CUstreamBatchMemOpParams *ops, size_t count, const char *entry_point);

/* lib/hooks/advice.c */
bool gmod_refuses_advice(CUdeviceptr address, size_t size);
bool gmod_refuses_advices(const CUdeviceptr *addresses, const size_t *sizes, size_t count);

#endif
