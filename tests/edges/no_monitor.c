/*
 * no_monitor return|_exit|later|larger: a thread of the library's cannot be started, or not the first time, or not with
 * a stack below 3 MiB. One buffer has been overrun where the CPU sees it, another where only the driver brings the
 * bytes over; later and larger wait until that is reported.
 */
#include "make_buffer.h"
#include "report_log.h"
#include <dlfcn.h>
#include <errno.h>

static const char *mode = "";

static int refuse(const pthread_attr_t *attributes)
{
	static int asked;
	size_t stack = 0;

	if (!strcmp(mode, "larger"))
		return !pthread_attr_getstacksize(attributes, &stack) && stack < 3 << 20 ? EINVAL : 0;
	return asked++ == 0 || strcmp(mode, "later") ? EAGAIN : 0;
}

/* Everybody's: threads that begin in the library are the library's. */
EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
	static __typeof__(&pthread_create) next;
	int refused = 0;
	Dl_info info;

	if (dladdr(*(void **)&run, &info) && strstr(info.dli_fname, "libgmod"))
		refused = refuse(attributes);
	if (refused)
		return refused;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attributes, run, arg);
}

int main(int argc, char **argv)
{
	mode = argc > 1 ? argv[1] : "";
	tk_start();
	tk_flip(make_buffer(4096), 4096, 1);
	tk_flip(make_buffer(1000), 1000, 1);
	tk_sync();
	if (mode[0] == 'l')
		REQUIRE(wait_for_report("SUMMARY", 10000));
	if (!strcmp(mode, "_exit"))
		_exit(6);
	return 6;
}
