/*
 * gmod-tool supervise: runs a job, and says afterwards what share of its device memory was guarded. See
 * lib/tool/tool.h.
 *
 * Each process of the job adds a line to a file that the option `tally` names: two numbers of bytes.
 */
#include "lib/base/text.h"
#include "lib/tool/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the tally ---- */

static bool extend_options(const char *tally)
{
	const char *options = getenv("GMOD_OPTIONS");
	char *extended = NULL;

	if (asprintf(&extended, "%s%stally=%s", options ? options : "", options && *options ? ":" : "", tally) < 0)
		return false;
	bool done = setenv("GMOD_OPTIONS", extended, 1) == 0;
	free(extended);
	return done;
}

/* Its name goes into GMOD_OPTIONS as it is, without quotes. */
static bool make_tally(char *path, size_t size)
{
	const char *directory = getenv("TMPDIR");

	if (!directory || strpbrk(directory, ":\"' ") || strlen(directory) > size / 2)
		directory = "/tmp";
	snprintf(path, size, "%s/gmod.XXXXXX", directory);
	int fd = mkstemp(path);
	if (fd < 0) {
		path[0] = '\0';
		return false;
	}
	close(fd);
	return extend_options(path);
}

/* Rounded down, as in the closing lines, so that 100.0 % is said only of everything. */
static void say_share(FILE *tally)
{
	unsigned long long guarded = 0, all = 0, part, whole;
	unsigned processes = 0;
	struct gmod_text text;
	char sizes[64];

	for (; fscanf(tally, "%llu %llu", &part, &whole) == 2; processes++) {
		guarded += part;
		all += whole;
	}
	if (processes == 0) {
		tool_say("how much was guarded is not known: no process of the job left a count; either none used "
			 "CUDA, or they were killed");
	} else if (all == 0) {
		tool_say("the job asked for no device memory");
	} else {
		unsigned share = (unsigned)((unsigned __int128)guarded * 1000 / all);

		gmod_text_init(&text, sizes, sizeof(sizes));
		gmod_text_size(&text, guarded);
		gmod_text_str(&text, " of ");
		gmod_text_size(&text, all);
		tool_say("%u.%u %% of the job's device memory was guarded (%s, in %u process%s)", share / 10,
			 share % 10, sizes, processes, processes == 1 ? "" : "es");
	}
}

static void end_tally(const char *path)
{
	FILE *tally = *path ? fopen(path, "re") : NULL;

	if (tally) {
		say_share(tally);
		fclose(tally);
	}
	if (*path)
		unlink(path);
}

/* ---- the job ---- */

static void run_job(char **command, const sigset_t *mask)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
	const char *name = getenv(TOOL_NAME_VARIABLE);
	unsetenv(TOOL_NAME_VARIABLE); /* another gmod that the job may run has its own */
	execvp(command[0], command);
	int error = errno;
	if (name)
		setenv(TOOL_NAME_VARIABLE, name, 1);
	int status = error == ENOENT || error == ENOTDIR ? TOOL_NOT_FOUND : TOOL_NOT_EXECUTABLE;
	tool_say("%s: %s", command[0], strerror(error));
	_exit(status);
}

/* Until the job has ended. A signal that came from the terminal has reached it already. Returns its wait status. */
static int attend(pid_t job, const sigset_t *signals)
{
	siginfo_t info;
	int status = 0;

	while (waitpid(job, &status, WNOHANG) != job)
		if (sigwaitinfo(signals, &info) > 0 && info.si_signo != SIGCHLD && info.si_code != SI_KERNEL)
			kill(job, info.si_signo);
	return status;
}

/* End as the job ended. */
static int end_like(int status)
{
	sigset_t all;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* The core, if any, is the job's. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	signal(WTERMSIG(status), SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static void block_signals(sigset_t *blocked, sigset_t *before)
{
	static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

	sigemptyset(blocked);
	sigaddset(blocked, SIGCHLD);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(blocked, forwarded[i]);
	sigprocmask(SIG_BLOCK, blocked, before);
}

int tool_supervise(char **command)
{
	char tally[256];
	sigset_t signals, mask;

	if (!make_tally(tally, sizeof(tally)))
		tool_say("cannot make a file for the counts (%s): how much was guarded stays unknown", strerror(errno));
	block_signals(&signals, &mask);
	/* Who ignores it never gets to know how a child ended. */
	void (*ignored)(int) = signal(SIGCHLD, SIG_DFL);
	pid_t job = fork();
	if (job == 0) {
		signal(SIGCHLD, ignored);
		run_job(command, &mask);
	}
	signal(SIGPIPE, SIG_IGN);
	int status = job < 0 ? 0 : attend(job, &signals);
	if (job < 0)
		tool_say("cannot start the job: %s", strerror(errno));
	end_tally(tally);
	return job < 0 ? TOOL_FAILED : end_like(status);
}
