/* What the driver refuses on guarded device buffers that are mapped (lib/buffers/backend_mapped.c). */
#ifndef GMOD_LIB_BUFFERS_SYNC_MEMOPS_H
#define GMOD_LIB_BUFFERS_SYNC_MEMOPS_H

#include "lib/driver/driver.h"
#include "monitor/registry/registry.h"

/*
 * CU_POINTER_ATTRIBUTE_SYNC_MEMOPS. Programs set it before a network adapter uses a buffer: from then on a synchronous
 * copy or fill that touches the buffer has happened when it returns, where natively some return earlier. The hooks of
 * those calls wait for it. false: not a device buffer; the driver's answer stands.
 */
bool gmod_sync_memops_set(struct gmod_record *r, bool on);
bool gmod_sync_memops_is_set(const struct gmod_record *r);

/*
 * Epilogue of every copy and fill; addresses of which 0 stands for none. Waits where the attribute asks for it, for the
 * default stream that a synchronous one is in: CU_STREAM_LEGACY or CU_STREAM_PER_THREAD.
 */
#define GMOD_ASYNC ((CUstream)NULL)
void gmod_sync_memops(CUresult r, uint64_t dst, uint64_t src, CUstream stream);

#endif
