/*
 * _exit and _Exit, interposed: they end a process without running its exit handlers, so the last look at the canaries
 * happens here. The C library's own exit() does not come through them.
 */
#include <unistd.h>

#include "lib/base/real_exit.h"
#include "lib/driver/driver.h"
#include "lib/life/finish.h"

GMOD_EXPORT _Noreturn void _exit(int status)
{
	gmod_finish(GMOD_AT_ONCE);
	gmod_real_exit(gmod_exit_status(status));
}

GMOD_EXPORT _Noreturn void _Exit(int status) __attribute__((alias("_exit")));
