/* ends HOW: overruns a buffer, waits for that, and ends at once by what was asked for. */
#include "make_buffer.h"
#include <assert.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const child[] = {"true", NULL};
static struct sigaction before;
typedef sighandler_t signal_fn(int number, sighandler_t handler);
signal_fn __sysv_signal;

__attribute__((noinline)) static void crash_here(volatile char *p)
{
	*p = 1;
	puts("still there");
}

/* To the end of the stack, in frames of a page, for its guard. */
__attribute__((noinline)) static int deeper(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return depth < 0 ? 0 : deeper(depth + 1) + frame[0];
}

/* What then happens is handled on a stack of the program's, which it has set up for a handler that is gone. */
static void overrun_stack(void)
{
	static char other[64 << 10];
	const stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};

	REQUIRE(!sigaltstack(&stack, NULL));
	REQUIRE(deeper(1) == 0);
}

static void by_bus_error(void)
{
	FILE *empty = tmpfile();

	crash_here(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fileno(empty), 0));
}

static void chain(int number)
{
	REQUIRE(write(1, "mine\n", 5) == 5);
	sigaction(number, &before, NULL);
	raise(number);
}

/* What stood there is the default, by whatever name it is asked for. */
static void handle(int number)
{
	const struct sigaction mine = {.sa_handler = chain};
	static signal_fn *const names[] = {signal, __sysv_signal};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		REQUIRE(names[i](number, SIG_IGN) == SIG_DFL);
		REQUIRE(names[i](number, SIG_DFL) == SIG_IGN);
	}
	REQUIRE(!sigaction(number, NULL, &before) && before.sa_handler == SIG_DFL);
	REQUIRE(!sigaction(number, &mine, &before) && before.sa_handler == SIG_DFL);
	REQUIRE(!sigaction(number, NULL, &before) && before.sa_handler == chain);
	before.sa_handler = SIG_DFL;
	raise(number);
}

static void once(int number TK_UNUSED)
{
	REQUIRE(write(1, "mine\n", 5) == 5);
}

/* The kernel puts the default in the handler's place: nobody looks, and the second signal ends the process. */
static void handle_once(int number)
{
	const struct sigaction mine = {.sa_handler = once, .sa_flags = (int)SA_RESETHAND};

	REQUIRE(!sigaction(number, &mine, NULL));
	raise(number);
	REQUIRE(!sigaction(number, NULL, &before) && before.sa_handler == SIG_DFL);
	raise(number);
}

static void *raise_term(void *unused)
{
	raise(SIGTERM);
	return unused;
}

/* The least that pthread_attr_setstacksize() takes on x86-64. */
static void end_in_small_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	REQUIRE(!pthread_attr_init(&attributes) && !pthread_attr_setstacksize(&attributes, 16384));
	REQUIRE(!pthread_create(&thread, &attributes, raise_term, NULL) && !pthread_join(thread, NULL));
}

static void exec_in_vfork(void)
{
	int status;
	pid_t pid = vfork();

	if (!pid) {
		execv("/bin/true", child);
		_exit(1);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid && !status);
}

static void end(const char *how)
{
	const struct {
		const char *name;
		int number;
	} signals[] = {{"TERM", SIGTERM},     {"INT", SIGINT},   {"HUP", SIGHUP},   {"QUIT", SIGQUIT},
		       {"XCPU", SIGXCPU},     {"FPE", SIGFPE},   {"ALRM", SIGALRM}, {"USR1", SIGUSR1},
		       {"USR2", SIGUSR2},     {"PROF", SIGPROF}, {"IO", SIGIO},     {"PWR", SIGPWR},
		       {"STKFLT", SIGSTKFLT}, {"SYS", SIGSYS},   {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM}};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!strcmp(how, signals[i].name))
			raise(signals[i].number);
	if (!strcmp(how, "execve"))
		execve("/bin/true", child, environ);
	else if (!strcmp(how, "execv"))
		execv("/bin/true", child);
	else if (!strcmp(how, "execvp"))
		execvp("true", child);
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "assert"))
		assert(!how);
	else if (!strcmp(how, "crash"))
		crash_here(NULL);
	else if (!strcmp(how, "deep"))
		overrun_stack();
	else if (!strcmp(how, "trap"))
		__builtin_trap();
	else if (!strcmp(how, "breakpoint"))
		raise(SIGTRAP);
	else if (!strcmp(how, "bus"))
		by_bus_error();
	else if (!strcmp(how, "ignored"))
		REQUIRE(!raise(SIGCHLD) && !raise(SIGURG) && !raise(SIGWINCH) && !raise(SIGCONT));
	else if (!strcmp(how, "chain"))
		handle(SIGTERM);
	else if (!strcmp(how, "once"))
		handle_once(SIGTERM);
	else if (!strcmp(how, "small"))
		end_in_small_thread();
}

int main(int argc, char **argv)
{
	CUdeviceptr p, q;

	REQUIRE(argc > 1);
	/* A parent in Python has it ignored. */
	signal(SIGXFSZ, SIG_DFL);
	p = make_buffer(4096);
	if (!strcmp(argv[1], "vfork")) {
		exec_in_vfork();
		REQUIRE(execv("/no/such/file", child) < 0);
	}
	tk_flip(p, 4096, 1);
	tk_sync();
	end(argv[1]);
	/* An exec that failed has changed nothing. */
	REQUIRE(execv("/no/such/file", child) < 0);
	q = make_buffer(1000);
	tk_flip(q, 1000, 1);
	tk_sync();
	CK(cuMemFree(q));
	CK(cuMemFree(p));
	return 4;
}
