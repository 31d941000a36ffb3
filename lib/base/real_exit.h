/* The end of the process by the kernel itself, past the hooks of _exit and _Exit (lib/life/ending.c). */
#ifndef GMOD_LIB_BASE_REAL_EXIT_H
#define GMOD_LIB_BASE_REAL_EXIT_H

#include <sys/syscall.h>
#include <unistd.h>

/* End the process now, without a last look. From anywhere, signal handlers included. */
static inline _Noreturn void gmod_real_exit(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

#endif
