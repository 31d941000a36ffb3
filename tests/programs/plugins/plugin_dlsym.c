/* Another library that hooks dlsym, as some profilers do (bad_other_dlsym_*): it passes everything on. */
#include <dlfcn.h>
#include <stddef.h>

/* The first is x86-64's oldest version of the symbol, the second aarch64's. */
static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};

int dlsym_calls;

__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
	static void *(*real)(void *, const char *);

	for (size_t i = 0; !real && i < sizeof(versions) / sizeof(*versions); i++)
		*(void **)&real = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	dlsym_calls++;
	return real(handle, name);
}
