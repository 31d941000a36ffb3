/* dladdr as libfakechroot has it: it looks for the next one when it is first called. */
#include <dlfcn.h>

int dladdr(const void *address, Dl_info *info)
{
	static int (*next)(const void *, Dl_info *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dladdr");
	return next(address, info);
}
