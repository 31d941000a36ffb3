/*
 * _exit and _Exit, interposed: they end a process without running its exit handlers, so the last look at the canaries
 * happens here. The C library's own exit() does not come through them.
 */
#ifndef GMOD_LIB_EXIT_HOOK_H
#define GMOD_LIB_EXIT_HOOK_H

/* End the process now, without a last look. */
_Noreturn void gmod_real_exit(int status);

#endif
