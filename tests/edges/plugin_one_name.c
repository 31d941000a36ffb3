/* Its dlsym answers for one name of the driver's by itself, and passes all others on to the next one. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
	static void *(*libc)(void *, const char *), *(*next)(void *, const char *);

	if (!libc)
		*(void **)&libc = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!next)
		*(void **)&next = libc(RTLD_NEXT, "dlsym");
	return (strcmp(name, "cuMemFree_v2") == 0 ? libc : next)(handle, name);
}
