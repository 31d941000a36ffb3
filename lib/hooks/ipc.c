/* Memory shared with other processes and devices: the driver's answer stands, and its refusal is explained. */
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/hooks/where.h"

/* Managed memory cannot be exported. The program gets the driver's refusal; its user gets the way out, once. */
static void say_not_exportable(CUresult r, uint64_t address, const char *entry_point)
{
	static atomic_bool said;
	struct gmod_found found;

	if (r == CUDA_SUCCESS || gmod_where_is(address, &found) != GMOD_IN_BUFFER ||
	    gmod_record_details(found.record)->memory != GMOD_MEM_DEVICE || !gmod_first_time(&said))
		return;
	gmod_log_note(
	    0,
	    "%s was refused because guarded buffers are managed or mapped memory, which cannot be shared with "
	    "other processes or devices this way; GMOD_OPTIONS=backend=native leaves device buffers native",
	    entry_point);
}

GMOD_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
	CUresult r = NEXT(cuIpcGetMemHandle)(pHandle, dptr);

	say_not_exportable(r, dptr, __func__);
	return gmod_done(r, __func__);
}

GMOD_EXPORT CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
						   CUmemRangeHandleType handleType, unsigned long long flags)
{
	CUresult r = NEXT(cuMemGetHandleForAddressRange)(handle, dptr, size, handleType, flags);

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
