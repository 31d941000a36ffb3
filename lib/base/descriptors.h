/* Descriptors that the program cannot close. */
#ifndef GMOD_LIB_BASE_DESCRIPTORS_H
#define GMOD_LIB_BASE_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of Linux 5.11; the headers may be older than the kernel. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1)
#endif

/*
 * The calling thread has a table of descriptors of its own from now on, which is empty. false: it has the program's as
 * before, before Linux 5.9, or because a container's seccomp profile is in the way.
 */
static inline bool gmod_own_descriptors(void)
{
	return !syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE);
}

#endif
