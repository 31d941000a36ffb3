/* gmod-tool: dispatches to its commands, and the two about options. See lib/tool.h. */
#include "lib/tool.h"
#include "include/gmod.h"
#include "lib/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tool_say(const char *format, ...)
{
	va_list arguments;

	fputs("gmod: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

static void say_complaint(void *unused __attribute__((unused)), const char *line)
{
	tool_say("%s", line);
}

/* check-options TEXT: does every item mean something? */
static int check_options(char **arguments)
{
	struct gmod_options options;

	if (!arguments[0] || arguments[1]) {
		tool_say("usage: gmod-tool check-options TEXT");
		return TOOL_USAGE;
	}
	gmod_options_defaults(&options);
	return gmod_options_check(&options, arguments[0], say_complaint, NULL) == 0 ? 0 : TOOL_USAGE;
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
} commands[] = {
    {"check-options", check_options}, /* TEXT: exit 0, or 2 with one line a bad item */
    {"options-help", options_help},   {"arch", tool_arch},  {"doctor", tool_doctor},
    {"supervise", tool_supervise},    {"version", version},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argv + 2);
	tool_say("usage: gmod-tool check-options TEXT | options-help | arch COMMAND | doctor | supervise COMMAND... | "
		 "version");
	return TOOL_USAGE;
}
