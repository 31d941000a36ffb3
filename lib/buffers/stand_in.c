#include "lib/buffers/stand_in.h"

#include "lib/context/capture.h"
#include "lib/base/log.h"
#include "lib/base/phase.h"
#include "lib/base/facts.h"
#include "lib/buffers/backend.h"
#include "monitor/registry/index.h"

/* A live buffer that the program takes for device memory; NULL: none is there. */
static const struct gmod_record *device_buffer_at(uint64_t address)
{
	struct gmod_found found;

	if (gmod_phase() == GMOD_OFF)
		return NULL;
	found = gmod_index_find(address);
	if (!found.record || address - found.bounds.user >= found.bounds.size ||
	    gmod_record_details(found.record)->memory != GMOD_MEM_DEVICE)
		return NULL;
	return found.record;
}

static bool is_managed(const struct gmod_record *r)
{
	return gmod_record_details(r)->backend->stands_in;
}

bool gmod_is_device_buffer(uint64_t address)
{
	return device_buffer_at(address) != NULL;
}

bool gmod_stands_in(uint64_t address)
{
	const struct gmod_record *r = device_buffer_at(address);

	return r && is_managed(r);
}

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

static bool nothing_is_captured(void)
{
	return atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed) == 0;
}

bool gmod_fill_returns_early(uint64_t address)
{
	const struct gmod_record *r = device_buffer_at(address);

	return r && is_managed(r) && !gmod_sync_memops_is_set(r) && nothing_is_captured();
}

bool gmod_copy_returns_early(uint64_t dst, uint64_t src)
{
	const struct gmod_record *to = device_buffer_at(dst), *from = to ? device_buffer_at(src) : NULL;

	return from && (is_managed(to) || is_managed(from)) && !gmod_sync_memops_is_set(to) &&
	       !gmod_sync_memops_is_set(from) && gmod_record_details(to)->device == gmod_record_details(from)->device &&
	       nothing_is_captured();
}

void gmod_stand_in_refused(uint64_t address, const char *entry_point)
{
	static atomic_bool said;

	if (gmod_stands_in(address) && gmod_first_time(&said))
		gmod_log_note(
		    0,
		    "%s was refused because guarded buffers below 2 MiB are managed memory, which it does not "
		    "take; GMOD_OPTIONS=backend=native leaves device buffers native",
		    entry_point);
}
