/*
 * no_monitor return|_exit: the library's thread cannot be started. One buffer has been overrun where the CPU sees it,
 * another where only the driver brings the bytes over.
 */
#include "make_buffer.h"
#include <dlfcn.h>
#include <errno.h>

/* Everybody's: threads with a stack of 512 KiB are the library's. */
EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
	static __typeof__(&pthread_create) next;
	size_t stack = 0;

	if (attributes && !pthread_attr_getstacksize(attributes, &stack) && stack == (size_t)512 << 10)
		return EAGAIN;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attributes, run, arg);
}

int main(int argc, char **argv)
{
	tk_start();
	tk_flip(make_buffer(4096), 4096, 1);
	tk_flip(make_buffer(1000), 1000, 1);
	tk_sync();
	if (argc > 1 && !strcmp(argv[1], "_exit"))
		_exit(6);
	return 6;
}
