/* Wraps a C library function the usual way (good_rtld_next): RTLD_NEXT must mean next after this library. */
#include <dlfcn.h>
#include <sys/types.h>

__attribute__((visibility("default"))) int getpgrp_calls;

__attribute__((visibility("default"))) pid_t getpgrp(void)
{
	static __thread int depth;
	pid_t (*next)(void);
	pid_t group = -1;

	getpgrp_calls++;
	if (depth++ == 0) {
		*(void **)&next = dlsym(RTLD_NEXT, "getpgrp");
		group = next();
	}
	depth--;
	return group;
}
