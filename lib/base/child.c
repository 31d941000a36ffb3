#include "lib/base/child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib/base/counters.h"
#include "lib/base/deadline.h"
#include "lib/base/descriptors.h"
#include "lib/base/facts.h"
#include "lib/base/keep.h"

static const char *environment[4096];
static int no_new_privileges;

/* GMOD in a tool would be of no use. */
void gmod_child_prepare(void)
{
	const struct gmod_kept *kept;
	size_t n = 0;

	for (char **e = environ; e && *e && n + 1 < sizeof(environment) / sizeof(*environment); e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) && (kept = gmod_keep(*e, strlen(*e))))
			environment[n++] = kept->bytes;
	no_new_privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

/* By system calls: the library's own hooks of execve() and _exit() are for the program. */
static int become_tool(void *child)
{
	const char *const arguments[] = {"sh", "-c", ((const struct gmod_child *)child)->command, NULL};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &(uint64_t){0}, NULL, sizeof(uint64_t));
	syscall(SYS_execve, "/bin/sh", arguments, environment);
	return 127;
}

/* 0 to 2 become the tool's. Its output cannot grow: a tool in disorder may write for ever. */
static bool take_descriptors(const struct gmod_child *c)
{
	if (syscall(SYS_close_range, 0u, ~0u, 0u))
		for (int fd = 0; fd < 65536; fd++)
			syscall(SYS_close, fd); /* close() may be the program's, and take note of it */
	return memfd_create("input", 0) == 0 && pwrite(0, c->input, strlen(c->input), 0) >= 0 &&
	       memfd_create("output", MFD_ALLOW_SEALING) == 1 && !ftruncate(1, sizeof(c->output) - 1) &&
	       !fcntl(1, F_ADD_SEALS, F_SEAL_GROW) && open("/dev/null", O_WRONLY) == 2;
}

/*
 * Signals are blocked, as in the thread that starts it. What it sets is its own, but memory. Whom the tool leaves
 * behind when it is killed is the helper's child, and no child of a program that orphans go to, as to process 1.
 */
static int attend_tool(void *child)
{
	struct gmod_child *c = child;
	uint64_t left = c->limit_ns;
	int status = SIGKILL, parent = getppid(), tool, orphan;
	bool killed = false;

	for (int i = 1; i < _NSIG; i++)
		syscall(SYS_rt_sigaction, i, &(uint64_t[4]){0}, NULL,
			sizeof(uint64_t)); /* all of it is 0: the default */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (take_descriptors(c) &&
	    (tool = clone(become_tool, c->stack[1] + sizeof(c->stack[1]), CLONE_VM | CLONE_VFORK | SIGCHLD, c)) > 0) {
		while (!killed && !waitpid(tool, &status, WNOHANG))
			killed = !gmod_nap(&left, GMOD_MILLISECONDS(1)) || getppid() != parent;
		if (killed) {
			kill(-tool, SIGKILL);
			left = GMOD_SECONDS(1);
		}
		/* Where the program is gone its memory is to go, too. What could not be killed ends with the helper. */
		do
			orphan = waitpid(-1, NULL, WNOHANG);
		while (orphan > 0 ||
		       (!orphan && killed && getppid() == parent && gmod_nap(&left, GMOD_MILLISECONDS(1))));
		(void)!pread(1, c->output, sizeof(c->output) - 1, 0);
		c->status = status;
	}
	if (c->failures && c->status)
		gmod_count(c->failures, 1);
	return 0;
}

void gmod_child_start(struct gmod_child *c, const char *command, const char *input, uint64_t limit_ns,
		      _Atomic uint64_t *failures)
{
	c->status = -1;
	c->output[0] = '\0';
	c->command = command;
	c->input = input;
	c->limit_ns = limit_ns;
	c->failures = failures;
	c->helper = -1;
	if (!gmod_is_under_a_tool() && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == no_new_privileges)
		c->helper = clone(attend_tool, c->stack[0] + sizeof(c->stack[0]), CLONE_VM, c);
	if (c->helper < 0 && failures)
		gmod_count(failures, 1);
}

bool gmod_child_ended(const struct gmod_child *c)
{
	return c->helper <= 0 || waitpid(c->helper, NULL, WNOHANG | __WCLONE) != 0;
}
