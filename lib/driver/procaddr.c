/*
 * cuGetProcAddress: the driver is asked first, with the program's own version and flags, and the pointer it returned is
 * swapped if it is one of ours. On driver 580 those pointers are dlsym's for every version and flag (measured); where a
 * driver returns another, the rule of name, version and flags decides (lib/driver/driver.c).
 */
#include <string.h>

#include "lib/base/phase.h"
#include "lib/driver/driver.h"

static void *hook_for(const void *real, const char *symbol, int version, cuuint64_t flags)
{
	void *hook = gmod_hook_of(real);

	/* Asking for the asking: below CUDA 12 it has four arguments. */
	if (!hook && !strcmp(symbol, "cuGetProcAddress"))
		hook = version < 12000 || !HAVE(cuGetProcAddress_v2) ? (void *)cuGetProcAddress
								     : (void *)cuGetProcAddress_v2;
	if (!hook)
		hook = gmod_hook_by_version(symbol, version, flags);
	return hook;
}

static void swap(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
	void *hook;

	if (gmod_secure() || !symbol || !pfn || !*pfn)
		return;
	hook = hook_for(*pfn, symbol, version, flags);
	if (hook)
		*pfn = hook;
}

GMOD_EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags)
{
	CUresult r = NEXT(cuGetProcAddress)(symbol, pfn, driverVersion, flags);

	if (r == CUDA_SUCCESS)
		swap(symbol, pfn, driverVersion, flags);
	return r;
}

GMOD_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags,
					 CUdriverProcAddressQueryResult *symbolFound)
{
	CUresult r = NEXT(cuGetProcAddress_v2)(symbol, pfn, driverVersion, flags, symbolFound);

	if (r == CUDA_SUCCESS)
		swap(symbol, pfn, driverVersion, flags);
	return r;
}
