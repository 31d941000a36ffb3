/* The end of the process by the kernel itself, past the hooks of _exit and _Exit (lib/life/exit.c). */
#ifndef GMOD_LIB_BASE_REAL_EXIT_H
#define GMOD_LIB_BASE_REAL_EXIT_H

/* End the process now, without a last look. From anywhere, signal handlers included. */
_Noreturn void gmod_real_exit(int status);

#endif
