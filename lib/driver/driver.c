/* The tables made from entrypoints.def: symbol and version look-up, the driver's real pointers. */
#include "lib/driver/driver.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/counters.h"
#include "lib/base/loaded.h"
#include "lib/base/log.h"
#include "lib/driver/dlsym_next.h"

struct gmod_driver gmod_driver;

#define LINE_OF(symbol) (offsetof(struct gmod_driver, symbol) / 64)
_Static_assert(LINE_OF(cuCtxGetCurrent) == LINE_OF(cuLaunchKernelEx_ptsz), "what a launch calls is on one cache line");

/* hook: our function, NULL for what GMOD only calls; slot: where its real pointer is kept in gmod_driver. */
struct entry {
	const char *symbol;
	const char *base;
	int version;
	bool per_thread;
	void *hook;
	void **slot;
};

#define PER_THREAD(flavour) (sizeof(#flavour) > 1)
#define GMOD_HOOK(symbol, base, version, flavour) \
	{#symbol, #base, version, PER_THREAD(flavour), (void *)symbol, (void **)&gmod_driver.symbol},
#define GMOD_CALL(symbol, base, version, flavour) {#symbol, #base, version, false, NULL, (void **)&gmod_driver.symbol},
static const struct entry entries[] = {
#include "lib/driver/entrypoints.def"
};
#undef PER_THREAD

enum { ENTRY_COUNT = sizeof(entries) / sizeof(entries[0]) };

/* A newer ABI than this one, the newest that we know, was passed through. */
static atomic_bool outdated[ENTRY_COUNT];

static atomic_bool resolved;

/* NULL before the driver is there, or where it lacks the entry point. */
static void *real_of(const struct entry *e)
{
	return __atomic_load_n(e->slot, __ATOMIC_ACQUIRE);
}

static const struct entry *entry_of_symbol(const char *symbol)
{
	if (symbol[0] != 'c' || symbol[1] != 'u')
		return NULL;
	for (unsigned i = 0; i < ENTRY_COUNT; i++)
		if (!strcmp(entries[i].symbol, symbol))
			return &entries[i];
	return NULL;
}

void *gmod_hook_by_symbol(const char *symbol)
{
	const struct entry *e = entry_of_symbol(symbol);

	return e ? e->hook : NULL;
}

void *gmod_next_of_symbol(const char *symbol)
{
	const struct entry *e = entry_of_symbol(symbol);

	return e ? real_of(e) : NULL;
}

void *gmod_hook_of(const void *real)
{
	for (unsigned i = 0; real && i < ENTRY_COUNT; i++)
		if (entries[i].hook && real_of(&entries[i]) == real)
			return entries[i].hook;
	return NULL;
}

/* Known to be missing; nothing is before the driver is there. */
static bool is_lacking(const struct entry *e)
{
	return atomic_load_explicit(&resolved, memory_order_acquire) && !real_of(e);
}

/* Newest ABI not newer than asked for; between equals, the flavour asked for. */
static bool better(const struct entry *a, const struct entry *best, bool per_thread)
{
	if (!best)
		return true;
	if ((a->per_thread == per_thread) != (best->per_thread == per_thread))
		return a->per_thread == per_thread;
	return a->version > best->version;
}

void *gmod_hook_by_version(const char *name, int version, cuuint64_t flags)
{
	bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	const struct entry *best = NULL;

	for (unsigned i = 0; i < ENTRY_COUNT; i++) {
		const struct entry *e = &entries[i];

		if (e->version > version || (e->per_thread && !per_thread) || strcmp(e->base, name) || is_lacking(e))
			continue;
		if (better(e, best, per_thread))
			best = e;
	}
	if (version <= GMOD_NEWEST_CUDA)
		return best ? best->hook : NULL;
	if (best && best->hook && gmod_first_time(&outdated[best - entries]))
		gmod_count(&gmod_counters.newer, 1);
	return NULL;
}

void gmod_say_outdated(void)
{
	for (unsigned i = 0; i < ENTRY_COUNT; i++)
		if (outdated[i])
			gmod_log_note(1, "the driver's %s is newer than this GMOD, and was passed through",
				      entries[i].base);
}

/* Not every library that has the name has the function: lib/driver/homonyms.h. */
static bool is_data(const void *found)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
}

/*
 * What the program would get without us: what another library's dlsym answers for libcuda, unless that is us, being the
 * first definition; else another interposer's in the global scope; else the driver itself.
 */
static void *next_definition(void *libcuda, const char *symbol, const void *hook)
{
	void *drivers = gmod_libc_dlsym(libcuda, symbol), *p = gmod_next_dlsym(libcuda, symbol);

	if (p && p != drivers && p != hook)
		return p;
	p = gmod_libc_dlsym(RTLD_NEXT, symbol);
	return p && !is_data(p) ? p : drivers;
}

static void resolve_all(void *libcuda)
{
	for (unsigned i = 0; i < ENTRY_COUNT; i++)
		__atomic_store_n(entries[i].slot, next_definition(libcuda, entries[i].symbol, entries[i].hook),
				 __ATOMIC_RELEASE);
}

static int is_libcuda(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	return strstr(info->dlpi_name, "libcuda.so") != NULL;
}

bool gmod_libcuda_is_loaded(void)
{
	return gmod_loaded_walk(is_libcuda, NULL);
}

bool gmod_driver_resolve(void)
{
	static __thread bool resolving __attribute__((tls_model("initial-exec")));
	void *libcuda;

	if (atomic_load_explicit(&resolved, memory_order_acquire))
		return true;
	if (resolving)
		return false;
	libcuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!libcuda)
		return false;
	resolving = true;
	/*
	 * No lock: another thread may be here from a constructor, holding the loader's, which dlsym needs. Threads that
	 * meet here store the same values.
	 */
	resolve_all(libcuda);
	dlerror(); /* a name that this driver lacks is no error of the program's */
	resolving = false;
	atomic_store_explicit(&resolved, true, memory_order_release);
	/* The reference is kept: pointers into the driver must not outlive it. */
	return true;
}

/* Every entry point returns a CUresult, and a caller's arguments may be ignored under the C calling convention. */
static CUresult absent(void)
{
	return CUDA_ERROR_NOT_INITIALIZED;
}

void *gmod_next_slow(void **slot)
{
	void *real = gmod_driver_resolve() ? __atomic_load_n(slot, __ATOMIC_ACQUIRE) : NULL;

	return real ? real : (void *)absent;
}

unsigned gmod_hooks_armed(void)
{
	unsigned armed = 0;

	for (unsigned i = 0; i < ENTRY_COUNT; i++)
		armed += entries[i].hook && real_of(&entries[i]);
	return armed;
}
