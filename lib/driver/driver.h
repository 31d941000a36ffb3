/*
 * The driver API as GMOD sees it: every ABI declared, every entry point of lib/driver/entrypoints.def as a typed
 * pointer to the next definition of it behind libgmod (the driver's, or that of another interposer loaded after us).
 *
 * gmod_driver is filled once, by gmod_driver_resolve(), and read-only afterwards; a pointer is NULL where the driver
 * lacks the entry point. NEXT(cuMemAlloc_v2)(...) is how to call it: it resolves at the first use, because a program
 * that is linked against libcuda can reach an exported hook before anything else of ours has run.
 */
#ifndef GMOD_LIB_DRIVER_DRIVER_H
#define GMOD_LIB_DRIVER_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <cudaTypedefs.h>
#undef __CUDA_API_VERSION_INTERNAL

#include "lib/base/facts.h"
#include "lib/driver/newer.h"

#define GMOD_EXPORT __attribute__((visibility("default")))

/* A row that has another type than the toolkit's does not compile. */
#define DECLARE(symbol, base, version, flavour) __typeof__(*(PFN_##base##_v##version##flavour)NULL) symbol;
#define GMOD_HOOK DECLARE
#define GMOD_CALL DECLARE
#include "lib/driver/entrypoints.def"
#undef DECLARE

struct gmod_driver {
#define GMOD_HOOK(symbol, base, version, flavour) PFN_##base##_v##version##flavour symbol;
#define GMOD_CALL(symbol, base, version, flavour) PFN_##base##_v##version##flavour symbol;
#include "lib/driver/entrypoints.def"
} __attribute__((aligned(64)));

extern struct gmod_driver gmod_driver;

/* The pointer in *slot after resolving, or a function that returns CUDA_ERROR_NOT_INITIALIZED. */
__attribute__((cold)) void *gmod_next_slow(void **slot);

static inline __attribute__((always_inline)) void *gmod_next(void **slot)
{
	void *real = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

	return __builtin_expect(real != NULL, 1) ? real : gmod_next_slow(slot);
}

#define NEXT(symbol) ((__typeof__(gmod_driver.symbol))gmod_next((void **)&gmod_driver.symbol))
#define HAVE(symbol) (gmod_driver_resolve() && gmod_driver.symbol)

/* Has a call of ours succeeded? One that has not is counted. */
static inline bool gmod_succeeded(CUresult r, const char *what)
{
	if (r != CUDA_SUCCESS)
		gmod_degraded(what);
	return r == CUDA_SUCCESS;
}

/* Contexts, streams and functions are told apart by number. */
static inline uint64_t gmod_handle(const void *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

/* Has this process loaded a libcuda? Opens no file to find out, as dlopen does for a name that it does not know. */
bool gmod_libcuda_is_loaded(void);

/*
 * Fill gmod_driver from the libcuda that this process has loaded. Returns false, and changes nothing, when there
 * is none, or when another library's dlsym, asked for it, calls what we export. Safe to call from several threads at
 * once; costs one load once it has succeeded.
 */
bool gmod_driver_resolve(void);

/* The hook that stands in for `real`, a pointer the driver returned; NULL if it is none of ours. */
void *gmod_hook_of(const void *real);

/*
 * The hook for what cuGetProcAddress(name, version, flags) means, by the rules of the table alone: the fallback for
 * a driver whose pointers are not those of dlsym. An ABI that the loaded driver lacks is none. NULL: not hooked. Who
 * asks for what came later gets an ABI that the table lacks: that is counted.
 */
void *gmod_hook_by_version(const char *name, int version, cuuint64_t flags);

/* A note at verbosity=1 for each name that was counted so. */
void gmod_say_outdated(void);

/* What NEXT() of a hooked symbol points to, NULL before gmod_driver_resolve(). */
void *gmod_next_of_symbol(const char *symbol);

/* The hook for an exact exported symbol, NULL if it is none of ours. */
void *gmod_hook_by_symbol(const char *symbol);

/* How many hooks stand in front of an entry point the loaded driver has; 0 before gmod_driver_resolve(). */
unsigned gmod_hooks_armed(void);

#endif
