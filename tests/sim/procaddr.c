/*
 * cuGetProcAddress: by base name, version and stream flavour, from the table of lib/driver/entrypoints.def plus
 * what only the simulator has. Both ABIs return the pointers that dlsym returns.
 */
#include "sim.h"

#include <string.h>

CUresult cuMemAlloc_v3(void); /* of nothing that a toolkit declares */

struct entry {
	const char *base;
	int version;
	bool per_thread;
	void *function;
};

#define ROW(symbol, base, version, flavour) {#base, version, sizeof(#flavour) > 1, (void *)symbol},
#define GMOD_HOOK(symbol, base, version, flavour) ROW(symbol, base, version, flavour)
#define GMOD_PLAIN(symbol, base, version, flavour) ROW(symbol, base, version, flavour)
#define GMOD_CALL(symbol, base, version, flavour) ROW(symbol, base, version, flavour)

static const struct entry entries[] = {
#include "../../lib/driver/entrypoints.def"
#include "plain.def"
#define SIM_ONLY(symbol, base, version, flavour) ROW(symbol, base, version, flavour)
#include "extra.def"
};

static bool is_of(const struct entry *e, const char *base)
{
	return e->version <= sim_version && !strcmp(e->base, base);
}

static bool has_per_thread(const char *base)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i].per_thread && is_of(&entries[i], base))
			return true;
	return false;
}

/* The newest ABI that is not newer than asked for. Who asks for per-thread flavours of a base that has some is given
 * no other, also where they are newer than asked for. */
static const struct entry *find(const char *base, int version, bool per_thread, bool *known)
{
	const struct entry *found = NULL;

	per_thread = per_thread && has_per_thread(base);
	*known = false;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const struct entry *e = &entries[i];

		if (!is_of(e, base))
			continue;
		*known = true;
		if (e->version <= version && e->per_thread == per_thread && (!found || e->version >= found->version))
			found = e;
	}
	return found;
}

static CUresult look_up(const char *name, void **out, int version, cuuint64_t flags,
			CUdriverProcAddressQueryResult *status)
{
	const cuuint64_t legacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM,
			 per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	const struct entry *e;
	bool known;

	if (!name || !out || version > sim_version || (flags & ~(legacy | per_thread)))
		return CUDA_ERROR_INVALID_VALUE;
	e = find(name, version, flags & per_thread, &known);
	*out = e ? e->function : NULL;
	if (e)
		*status = CU_GET_PROC_ADDRESS_SUCCESS;
	else
		*status = known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return CUDA_SUCCESS;
}

/* The old ABI has no status to say it with. */
static CUresult look_up_old(const char *name, void **out, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult status;
	CUresult r = look_up(name, out, version, flags, &status);

	return !r && !*out ? CUDA_ERROR_NOT_FOUND : r;
}

ENTRY(cuGetProcAddress, NEEDS_NOTHING, TAKES(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags),
      look_up_old(symbol, pfn, cudaVersion, flags))

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *symbolStatus)
{
	struct call c = ENTER(cuGetProcAddress_v2, NEEDS_NOTHING);
	CUdriverProcAddressQueryResult unwanted;

	return sim_leave(&c, c.refused ?: look_up(symbol, pfn, cudaVersion, flags, symbolStatus ?: &unwanted));
}
