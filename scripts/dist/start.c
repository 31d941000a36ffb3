/*
 * Linked into what is built for distribution: older-glibc.h, for calls that come from no file of ours, that is the
 * start of a program, and libgcc's unwinder.
 */
#define OLDEST_ONLY
#include "older-glibc.h"

typedef int (*main_fn)(int argc, char **argv, char **envp);
typedef void (*hook_fn)(void);

int older_start(main_fn program, int argc, char **argv, hook_fn init, hook_fn fini, hook_fn loader_fini,
		void *stack_end);
int older_once(int *once, hook_fn fn);
int older_key_create(unsigned *key, void (*destroy)(void *value));
__asm__(".symver older_start,__libc_start_main@" OLDEST);
__asm__(".symver older_once,pthread_once@" OLDEST);
__asm__(".symver older_key_create,__pthread_key_create@" OLDEST);

#pragma GCC visibility push(hidden)

int __libc_start_main(main_fn program, int argc, char **argv, hook_fn init, hook_fn fini, hook_fn loader_fini,
		      void *stack_end)
{
	return older_start(program, argc, argv, init, fini, loader_fini, stack_end);
}

int pthread_once(int *once, hook_fn fn)
{
	return older_once(once, fn);
}

int __pthread_key_create(unsigned *key, void (*destroy)(void *value))
{
	return older_key_create(key, destroy);
}

#pragma GCC visibility pop
