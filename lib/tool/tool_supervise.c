/* gmod-tool supervise: runs a job, and says afterwards what share of its device memory was guarded. See
 * lib/tool/tool.h. */
#include "lib/tool/tool.h"
#include "lib/base/options.h"
#include "lib/tool/tool_share.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STDERR_PATIENCE_MS 1000 /* a reader of our stderr that is slower than this loses lines */

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

/*
 * Where the job's reports pass by. Without a log_path of the user's they come through a pipe with a name, made for
 * this job, and go on to stderr; with one they are looked up in the user's files afterwards.
 */
struct reports {
	char directory[64], pipe[80];
	int fd; /* the pipe, -1: none */
	char line[8192];
	size_t length;
	struct share share;
	glob_t older;        /* the user's log files as they were before the job, */
	struct stat *before; /* each of them; NULL: none, or no memory */
};

/* ---- the pipe ---- */

static bool extend_options(const char *pipe)
{
	const char *options = getenv("GMOD_OPTIONS");
	char *extended = NULL;

	if (asprintf(&extended, "%s%slog_path=%s", options ? options : "", options && *options ? ":" : "", pipe) < 0)
		return false;
	bool done = setenv("GMOD_OPTIONS", extended, 1) == 0;
	free(extended);
	return done;
}

/* Reading and writing at once, so that there is a reader from the start and never an end of file. */
static bool open_pipe(struct reports *reports)
{
	const char *directory = getenv("TMPDIR");

	if (!directory || strpbrk(directory, ":%\"'") || strlen(directory) > 40)
		directory = "/tmp";
	snprintf(reports->directory, sizeof(reports->directory), "%s/gmod.XXXXXX", directory);
	if (!mkdtemp(reports->directory)) {
		reports->directory[0] = '\0';
		return false;
	}
	snprintf(reports->pipe, sizeof(reports->pipe), "%s/reports", reports->directory);
	if (mkfifo(reports->pipe, 0600) != 0)
		return false;
	reports->fd = open(reports->pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return reports->fd >= 0 && extend_options(reports->pipe);
}

static void close_pipe(struct reports *reports)
{
	if (reports->fd >= 0)
		close(reports->fd);
	if (reports->pipe[0])
		unlink(reports->pipe);
	if (reports->directory[0])
		rmdir(reports->directory);
}

/* ---- lines ---- */

static void take_line(struct reports *reports)
{
	reports->line[reports->length] = '\0';
	share_add_line(&reports->share, reports->line);
	reports->length = 0;
}

static void take_text(struct reports *reports, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\n')
			take_line(reports);
		else if (reports->length < sizeof(reports->line) - 1)
			reports->line[reports->length++] = text[i];
	}
}

/* On to stderr, in pieces that a pipe takes without waiting once it is writable at all. */
static void pass_on(const char *text, size_t length)
{
	while (length > 0) {
		struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
		ssize_t written;

		if (poll(&out, 1, STDERR_PATIENCE_MS) != 1 || !(out.revents & POLLOUT))
			return;
		written = write(STDERR_FILENO, text, length);
		if (written <= 0)
			return;
		text += written;
		length -= (size_t)written;
	}
}

/* Everything that is in the pipe now. */
static void drain(struct reports *reports)
{
	char text[4096];
	ssize_t length;

	while (reports->fd >= 0 && (length = read(reports->fd, text, sizeof(text))) > 0) {
		pass_on(text, (size_t)length);
		take_text(reports, text, (size_t)length);
	}
}

/* ---- the user's own log files ---- */

static void read_log(struct reports *reports, const char *path, off_t from)
{
	char text[4096];
	size_t length;
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	fseeko(file, from, SEEK_SET);
	while ((length = fread(text, 1, sizeof(text), file)) > 0)
		take_text(reports, text, length);
	take_line(reports);
	fclose(file);
}

/* A log_path as a pattern for glob(): what GMOD fills in becomes a star, what glob() would take as special is quoted.
 */
static void log_pattern(const char *path, char *pattern, size_t size)
{
	size_t at = 0;

	for (; *path && at + 3 < size; path++) {
		if (path[0] == '%' && path[1] && strchr("phtr", path[1])) {
			pattern[at++] = '*';
			path++;
			continue;
		}
		if (path[0] == '%' && path[1] == '%')
			path++;
		if (strchr("*?[\\", *path))
			pattern[at++] = '\\';
		pattern[at++] = *path;
	}
	pattern[at] = '\0';
}

static bool find_logs(const char *path, glob_t *found)
{
	char pattern[2 * GMOD_OPTION_STRING_MAX];

	log_pattern(path, pattern, sizeof(pattern));
	return glob(pattern, 0, NULL, found) == 0;
}

/* Logs are appended to: what is in them now is of earlier jobs. */
static void note_logs(struct reports *reports, const char *path)
{
	if (!find_logs(path, &reports->older))
		return;
	reports->before = calloc(reports->older.gl_pathc, sizeof(*reports->before));
	for (size_t i = 0; reports->before && i < reports->older.gl_pathc; i++)
		stat(reports->older.gl_pathv[i], &reports->before[i]);
}

/* Where the job's own text begins in this file. One that has shrunk was begun anew. */
static off_t begin_of_job(const struct reports *reports, const struct stat *now)
{
	for (size_t i = 0; reports->before && i < reports->older.gl_pathc; i++) {
		const struct stat *before = &reports->before[i];

		if (before->st_dev == now->st_dev && before->st_ino == now->st_ino)
			return before->st_size <= now->st_size ? before->st_size : 0;
	}
	return 0;
}

static void read_logs(struct reports *reports, const char *path)
{
	struct stat now;
	glob_t found;

	if (!find_logs(path, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (stat(found.gl_pathv[i], &now) == 0 && S_ISREG(now.st_mode))
			read_log(reports, found.gl_pathv[i], begin_of_job(reports, &now));
	globfree(&found);
}

/* ---- the job ---- */

static void run_job(char **command, const sigset_t *mask)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGPIPE, SIG_DFL);
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

/* A signal that came from the terminal has reached the job already. */
static void forward(int signals, pid_t job)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)
			kill(job, (int)info.ssi_signo);
}

/* Until the job has ended: reports go through, signals go on. Returns its wait status. */
static int attend(pid_t job, int signals, struct reports *reports)
{
	struct pollfd waiting[] = {{.fd = signals, .events = POLLIN}, {.fd = reports->fd, .events = POLLIN}};
	int status = 0;

	for (;;) {
		poll(waiting, 2, -1);
		drain(reports);
		forward(signals, job);
		if (waitpid(job, &status, WNOHANG) == job)
			break;
	}
	drain(reports);
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

static int block_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(SIG_BLOCK, &set, before);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void read_options(struct gmod_options *options)
{
	gmod_options_defaults(options);
	gmod_options_parse(options, getenv("GMOD_OPTIONS"), NULL, NULL);
}

int tool_supervise(char **command)
{
	static struct reports reports = {.fd = -1};
	static struct gmod_options options;
	sigset_t mask;

	if (!command[0]) {
		tool_say("usage: gmod-tool supervise COMMAND...");
		return TOOL_USAGE;
	}
	read_options(&options);
	if (options.log_path[0])
		note_logs(&reports, options.log_path);
	else if (!open_pipe(&reports))
		tool_say("cannot make a pipe for the reports (%s): they go to stderr, and how much was guarded stays "
			 "unknown",
			 strerror(errno));
	int signals = block_signals(&mask);
	signal(SIGPIPE, SIG_IGN);
	pid_t job = fork();
	if (job == 0)
		run_job(command, &mask);
	if (job < 0 || signals < 0) {
		tool_say("cannot start the job: %s", strerror(errno));
		close_pipe(&reports);
		return TOOL_FAILED;
	}
	int status = attend(job, signals, &reports);
	close_pipe(&reports);
	if (options.log_path[0])
		read_logs(&reports, options.log_path);
	share_say(&reports.share, options.verbosity);
	return end_like(status);
}
