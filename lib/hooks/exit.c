#include "lib/base/real_exit.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/driver/driver.h"
#include "lib/life/start.h"

GMOD_EXPORT _Noreturn void _exit(int status)
{
	gmod_finish(GMOD_AT_ONCE);
	gmod_real_exit(gmod_exit_status(status));
}

GMOD_EXPORT _Noreturn void _Exit(int status)
{
	_exit(status);
}
