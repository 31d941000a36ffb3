/* Memory shared with other processes and devices: the driver's answer stands, and its refusal is explained. */
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/hooks/where.h"

/* What is not the driver's own address cannot be exported. The program's user gets the way out, once. */
static void say_not_exportable(CUresult r, uint64_t address, const char *entry_point)
{
	static atomic_bool said;
	struct gmod_found found;

	if (r == CUDA_SUCCESS || gmod_where_is(address, &found) != GMOD_IN_BUFFER ||
	    gmod_record_details(found.record)->memory != GMOD_MEM_DEVICE || !gmod_first_time(&said))
		return;
	gmod_log_note(
	    0,
	    "%s was refused because GMOD_OPTIONS asks for backend=fence, unified or managed, whose buffers cannot be "
	    "shared with other processes or devices this way; backend=device can",
	    entry_point);
}

/* Other processes and devices may write to the buffer from now on: its free must always look. */
static void note_exported(struct gmod_details *d)
{
	atomic_store_explicit(&d->quiet_until, UINT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&d->exported, true, memory_order_relaxed);
}

static CUresult export(CUipcMemHandle *handle, CUdeviceptr address)
{
	struct gmod_found found;
	struct gmod_details *d;

	if (gmod_where_is(address, &found) == GMOD_ELSEWHERE)
		return NEXT(cuIpcGetMemHandle)(handle, address);
	d = gmod_record_details(found.record);
	if (d->raw != found.bounds.user || address - found.bounds.user >= found.bounds.size)
		return GMOD_REFUSED;
	note_exported(d);
	return NEXT(cuIpcGetMemHandle)(handle, address);
}

GMOD_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
	CUresult r = export(pHandle, dptr);

	say_not_exportable(r, dptr, __func__);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
						   CUmemRangeHandleType handleType, unsigned long long flags)
{
	CUresult r = NEXT(cuMemGetHandleForAddressRange)(handle, dptr, size, handleType, flags);
	struct gmod_found found;

	if (r == CUDA_SUCCESS && gmod_where_is(dptr, &found) != GMOD_ELSEWHERE)
		note_exported(gmod_record_details(found.record));
	say_not_exportable(r, dptr, __func__);
	return gmod_done(r, __func__);
}

/* What cuMemAlloc gave has no handle, and libraries ask to find out who gave it. */
GMOD_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
	struct gmod_found found;

	if (gmod_where_is(gmod_handle(addr), &found) != GMOD_ELSEWHERE)
		return CUDA_ERROR_INVALID_VALUE;
	return gmod_done(NEXT(cuMemRetainAllocationHandle)(handle, addr), __func__);
}
