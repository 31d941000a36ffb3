/* Reading where perhaps nothing is. */
#ifndef GMOD_LIB_BASE_PEEK_H
#define GMOD_LIB_BASE_PEEK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/phase.h"

/* Copies n bytes, or the first ones as far as there are any: how many. Below 0: none, -EFAULT, or why that cannot be
 * known. */
static inline ssize_t gmod_peek(uintptr_t from, void *to, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)from, n};
	/* getpid() is a system call. In a vfork child this is the parent, whose memory is the child's. */
	pid_t self = gmod_hot.process ? gmod_hot.process : getpid();
	int saved = errno;
	ssize_t done = process_vm_readv(self, &here, 1, &there, 1, 0);

	if (done < 0)
		done = -errno;
	errno = saved;
	return done;
}

#endif
