/*
 * What may end the process without an exit: _exit, an exec and signals. The canaries are looked at before. What is
 * interposed goes on to the next function of the name: a profiler may write its files in an _exit of its own.
 *
 * Where the program leaves a signal to its default, a handler of ours has the monitor look and the closing line said,
 * gives the default back, and sends the signal again with all that came with it: status and core file are native. The
 * handler allocates nothing, takes no lock and needs little stack: it has no stack of its own, which the program's
 * sigaltstack() would have to share. The program never sees it: where it asks, the signal has its default.
 *
 * Natively go sigset(), sigignore() and siginterrupt(), which no program beside CUDA was seen to call, the exec
 * functions but execve(), execv() and execvp(), and what the kernel does by itself: after SA_RESETHAND, and in a
 * program that an exec has started, the default is the kernel's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/facts.h"
#include "lib/base/phase.h"
#include "lib/base/real_exit.h"
#include "lib/driver/dlsym_next.h"
#include "lib/driver/driver.h"
#include "lib/life/finish.h"
#include "lib/life/start.h"

/* The C library's functions behind ours. */
/* clang-format off */
enum next { EXECVE, EXECV, EXECVP, SIGACTION, SIGNAL, SYSV_SIGNAL, UNDERSCORE_EXIT, CAPITAL_EXIT };
static const char *const names[] = {"execve", "execv", "execvp", "sigaction", "signal", "__sysv_signal", "_exit", "_Exit"};
/* clang-format on */
enum { COUNT = sizeof(names) / sizeof(*names) };
static _Atomic(void *) known[COUNT];

static void *next(enum next which)
{
	void *function = atomic_load_explicit(&known[which], memory_order_relaxed);

	if (!function) {
		function = gmod_libc_dlsym(RTLD_NEXT, names[which]);
		atomic_store_explicit(&known[which], function, memory_order_relaxed);
	}
	return function;
}

/* Now: a signal handler or a vfork child must not wait for the dynamic loader. */
__attribute__((constructor)) static void at_load(void)
{
	for (int i = 0; i < COUNT; i++)
		next((enum next)i);
}

/* It may fail, and then the program goes on: a look, and no end. */
static void *look_before(enum next which)
{
	gmod_look(GMOD_SECONDS(2), false);
	return next(which);
}

GMOD_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
	typedef int execve_fn(const char *path, char *const arguments[], char *const environment[]);

	return ((execve_fn *)look_before(EXECVE))(path, arguments, environment);
}

typedef int exec_fn(const char *path, char *const arguments[]);

GMOD_EXPORT int execv(const char *path, char *const arguments[])
{
	return ((exec_fn *)look_before(EXECV))(path, arguments);
}

GMOD_EXPORT int execvp(const char *file, char *const arguments[])
{
	return ((exec_fn *)look_before(EXECVP))(file, arguments);
}

static _Noreturn void end(enum next which, int status)
{
	void (*goes_on)(int) = (void (*)(int))next(which);

	gmod_finish(GMOD_AT_ONCE);
	if (goes_on)
		goes_on(gmod_exit_status(status));
	gmod_real_exit(gmod_exit_status(status));
}

GMOD_EXPORT _Noreturn void _exit(int status)
{
	end(UNDERSCORE_EXIT, status);
}

GMOD_EXPORT _Noreturn void _Exit(int status)
{
	end(CAPITAL_EXIT, status);
}

typedef int sigaction_fn(int number, const struct sigaction *wanted, struct sigaction *old);
typedef sighandler_t signal_fn(int number, sighandler_t handler);

/*
 * All whose default ends the process. Not SIGKILL, which nobody can handle, and those of real time, from 32 on; nor
 * SIGPIPE: Go's runtime asks the kernel whose handler it replaces, and has that one called where C code writes to a
 * connection that has gone, of which it natively takes no notice.
 */
#define ENDINGS \
	(~(1u << SIGKILL | 1u << SIGPIPE | 1u << SIGSTOP | 1u << SIGTSTP | 1u << SIGTTIN | 1u << SIGTTOU | \
	   1u << SIGCONT | 1u << SIGCHLD | 1u << SIGURG | 1u << SIGWINCH))
static struct sigaction ours; /* in the place of a default: zeros before the start, and with signals=0 */

static int set(int number, const struct sigaction *wanted, struct sigaction *old)
{
	return ((sigaction_fn *)next(SIGACTION))(number, wanted, old);
}

static void look_and_end(int number, siginfo_t *info, void *context)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};

	(void)context;
	gmod_look(GMOD_MILLISECONDS(200), true);
	set(number, &by_default, NULL);
	/* Blocked until this returns to where the signal came. */
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info))
		raise(number);
}

static bool is_ending(int number)
{
	return number > 0 && number < 32 && ENDINGS >> number & 1 && gmod_phase_is_ours() && ours.sa_sigaction;
}

GMOD_EXPORT int sigaction(int number, const struct sigaction *wanted, struct sigaction *old)
{
	bool by_default = wanted && wanted->sa_handler == SIG_DFL && is_ending(number);
	int r = set(number, by_default ? &ours : wanted, old);

	if (!r && old && old->sa_sigaction == look_and_end)
		memset(old, 0, sizeof(*old));
	return r;
}

static sighandler_t exchange(enum next which, int number, sighandler_t handler)
{
	sighandler_t old = ((signal_fn *)next(which))(number, handler);

	if (old != SIG_ERR && handler == SIG_DFL && is_ending(number))
		set(number, &ours, NULL);
	return old == (sighandler_t)(void (*)(void))look_and_end ? SIG_DFL : old;
}

GMOD_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	return exchange(SIGNAL, number, handler);
}

/* What signal() is called in a program of strict C. */
GMOD_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	return exchange(SYSV_SIGNAL, number, handler);
}

/* For process 1 the kernel leaves out what a default would end. */
void gmod_signals_start(void)
{
	struct sigaction action;

	if (!gmod_options()->signals || getpid() == 1)
		return;
	ours = (struct sigaction){.sa_sigaction = look_and_end, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	ours.sa_mask = gmod_outside_signals();
	for (int number = 1; number < 32; number++)
		if (ENDINGS >> number & 1 && !set(number, NULL, &action) && action.sa_handler == SIG_DFL)
			set(number, &ours, NULL);
}
