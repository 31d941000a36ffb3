/* gmod-tool: dispatches to its commands, and the two about options. See lib/tool/tool.h. */
#include "lib/tool/tool.h"
#include "include/gmod.h"
#include "lib/base/log_file.h"
#include "lib/base/options.h"
#include "lib/base/origin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tool_say(const char *format, ...)
{
	va_list arguments;
	const char *name = getenv(TOOL_NAME_VARIABLE);

	fprintf(stderr, "%s: ", name && *name ? name : "gmod");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

static void say_complaint(void *unused __attribute__((unused)), const char *line)
{
	tool_say("%s", line);
}

/* 0, or why a file cannot be read (R_OK), or appended to (W_OK). It is not opened: that would take from a pipe. */
static int file_error(const char *path, int how)
{
	struct stat status;

	if ((how == R_OK ? stat(path, &status) : lstat(path, &status)) != 0 || access(path, how) != 0)
		return errno;
	return S_ISLNK(status.st_mode) ? ELOOP : S_ISDIR(status.st_mode) ? EISDIR : 0;
}

/* The library would go on without such a file; whoever waits at a terminal can be told at once. */
static bool check_files(const struct gmod_options *options)
{
	gmod_origin_read(); /* for log_path */
	int error = options->suppressions[0] ? file_error(options->suppressions, R_OK) : 0;
	int no_tally = options->tally[0] ? file_error(options->tally, W_OK) : 0;
	const char *refused = gmod_log_file_choose(options->log_path);
	char path[PATH_MAX];
	const char *stats = gmod_log_file_name(options->stats_path, path, true);

	if (error)
		tool_say("cannot read the suppressions file %s: %s", options->suppressions, strerror(error));
	if (refused)
		tool_say("cannot write log_path %s: %s", options->log_path, refused);
	if (stats)
		tool_say("cannot write stats_path %s: %s", options->stats_path, stats);
	if (no_tally)
		tool_say("cannot append to the tally %s: %s", options->tally, strerror(no_tally));
	puts(options->suppressions);
	return !error && !refused && !stats && !no_tally;
}

/* check-options TEXT: does every item mean something, and are the files there? */
static int check_options(char **arguments)
{
	struct gmod_options options;

	gmod_options_defaults(&options);
	if (gmod_options_check(&options, arguments[0], say_complaint, NULL) > 0 || !check_files(&options))
		return TOOL_USAGE;
	return 0;
}

static void print_line(void *unused __attribute__((unused)), const char *line)
{
	puts(line);
}

static int options_help(char **arguments __attribute__((unused)))
{
	gmod_options_help(print_line, NULL);
	return 0;
}

static int version(char **arguments __attribute__((unused)))
{
	puts("gmod " GMOD_VERSION);
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(char **arguments);
	int least, most; /* arguments that it takes */
} commands[] = {
    {"check-options", check_options, 1, 1}, /* exit 0, or 2 with a line a bad item; prints the suppressions' file */
    {"options-help", options_help, 0, 0},      {"arch", tool_arch, 1, 2},  {"doctor", tool_doctor, 0, 0},
    {"supervise", tool_supervise, 1, INT_MAX}, {"version", version, 0, 0},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name) && argc - 2 >= commands[i].least && argc - 2 <= commands[i].most)
			return commands[i].run(argv + 2);
	tool_say("usage: gmod-tool check-options TEXT | options-help | arch COMMAND [ADVICE] | doctor | supervise "
		 "COMMAND... | "
		 "version");
	return TOOL_USAGE;
}
