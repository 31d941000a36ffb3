#include "lib/buffers/sync_memops.h"

#include "lib/base/facts.h"
#include "monitor/registry/index.h"

static atomic_bool ever_set; /* the attribute, of any buffer */

bool gmod_sync_memops_set(struct gmod_record *r, bool on)
{
	if (gmod_record_details(r)->memory != GMOD_MEM_DEVICE)
		return false;
	atomic_store_explicit(&gmod_record_details(r)->sync_memops, on, memory_order_relaxed);
	if (on)
		atomic_store_explicit(&ever_set, true, memory_order_relaxed);
	return true;
}

bool gmod_sync_memops_is_set(const struct gmod_record *r)
{
	return atomic_load_explicit(&gmod_record_details(r)->sync_memops, memory_order_relaxed);
}

static bool wants(uint64_t address)
{
	struct gmod_found found = gmod_index_find(address);

	return found.record && gmod_sync_memops_is_set(found.record);
}

void gmod_sync_memops(CUresult r, uint64_t dst, uint64_t src, CUstream stream)
{
	if (!atomic_load_explicit(&ever_set, memory_order_relaxed) || r != CUDA_SUCCESS || stream == GMOD_ASYNC ||
	    (!wants(dst) && !wants(src)))
		return;
	if (NEXT(cuStreamSynchronize)(stream) != CUDA_SUCCESS)
		gmod_degraded("cuStreamSynchronize");
}
