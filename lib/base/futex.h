/* Sleeping until a word changes. */
#ifndef GMOD_LIB_BASE_FUTEX_H
#define GMOD_LIB_BASE_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until it is another value, or somebody is woken, or ns have passed (UINT64_MAX: for ever); or for no reason. */
static inline void gmod_futex_wait(atomic_int *futex, int while_it_is, uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, while_it_is, ns == UINT64_MAX ? NULL : &t, NULL, 0);
}

static inline void gmod_futex_wake(atomic_int *futex)
{
	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif
