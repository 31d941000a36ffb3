/* A file system over a network: whoever wants a file for itself waits for 50 ms. */
#include "testkit.h"
#include <dlfcn.h>
#include <sys/file.h>

__attribute__((visibility("default"))) int flock(int fd, int how)
{
	int (*lock)(int, int);

	*(void **)&lock = dlsym(RTLD_NEXT, "flock");
	if (how & LOCK_EX)
		tk_sleep_ms(50);
	return lock(fd, how);
}
