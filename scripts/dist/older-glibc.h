/*
 * Put before every file of a build for distribution: what has a newer version in the glibc of the machine that builds
 * is taken by the version that glibc 2.28 has, too. scripts/dist/pack looks whether that is all.
 */
#ifndef __ASSEMBLER__

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#define OLDEST_DLADDR1 "GLIBC_2.3.3"
#define STAT_VERSION 1
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#define OLDEST_DLADDR1 OLDEST
#define STAT_VERSION 0
#endif

#if !defined(OLDEST_ONLY)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/stat.h>

#define OLDER(name) __asm__(".symver " #name "," #name "@" OLDEST);

OLDER(dladdr)
__asm__(".symver dladdr1,dladdr1@" OLDEST_DLADDR1);
OLDER(dlclose)
OLDER(dlerror)
OLDER(dlopen)
OLDER(dlsym)
OLDER(dlvsym)
OLDER(pthread_attr_setstacksize)
OLDER(pthread_create)
OLDER(pthread_detach)
OLDER(pthread_getcpuclockid)
OLDER(pthread_join)
OLDER(pthread_key_create)
OLDER(__pthread_key_create)
OLDER(pthread_mutex_timedlock)
OLDER(pthread_mutex_trylock)
OLDER(pthread_once)
OLDER(pthread_setspecific)
OLDER(pthread_getspecific)
OLDER(pthread_sigmask)
OLDER(sem_init)
OLDER(sem_post)
OLDER(sem_wait)

/* These were no functions of the library's before 2.33. */
int __fxstat(int version, int fd, struct stat *out);
int __lxstat(int version, const char *path, struct stat *out);
int __xstat(int version, const char *path, struct stat *out);
OLDER(__fxstat)
OLDER(__lxstat)
OLDER(__xstat)
#define fstat(fd, out) __fxstat(STAT_VERSION, fd, out)
#define lstat(path, out) __lxstat(STAT_VERSION, path, out)
#define stat(path, out) __xstat(STAT_VERSION, path, out)

#endif

#endif
