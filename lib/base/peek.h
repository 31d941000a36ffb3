/* Reading where perhaps nothing is. */
#ifndef GMOD_LIB_BASE_PEEK_H
#define GMOD_LIB_BASE_PEEK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Copies n bytes, or the first ones as far as there are any: how many. Below 0: none, -EFAULT, or why that cannot be
 * known. */
static inline ssize_t gmod_peek(uintptr_t from, void *to, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)from, n};
	int saved = errno;
	ssize_t done = process_vm_readv(getpid(), &here, 1, &there, 1, 0);

	if (done < 0)
		done = -errno;
	errno = saved;
	return done;
}

#endif
