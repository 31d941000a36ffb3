/* _exit and _Exit as profilers interpose them, to write down what they have measured: TAU, HPCToolkit's libmonitor. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void go_on(const char *name, const char *said, int status)
{
	void (*next)(int);

	*(void **)&next = dlsym(RTLD_NEXT, name);
	if (write(1, said, strlen(said)) < 0)
		status = 1;
	next(status);
	for (;;)
		;
}

_Noreturn void _exit(int status)
{
	go_on("_exit", "plugin: _exit seen\n", status);
}

_Noreturn void _Exit(int status)
{
	go_on("_Exit", "plugin: _Exit seen\n", status);
}
