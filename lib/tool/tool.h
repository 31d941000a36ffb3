/*
 * gmod-tool: what scripts/gmod and scripts/gmod-tensorflow need and a shell cannot do well.
 *
 * A program of its own, no part of libgmod.so: it may allocate, block and exit. Each command takes its arguments,
 * as many as it may have (NULL-terminated, without the command's name), and returns the exit status.
 */
#ifndef GMOD_LIB_TOOL_TOOL_H
#define GMOD_LIB_TOOL_TOOL_H

/* Exit statuses beside 0; 126 and 127 are a shell's. */
enum { TOOL_FAILED = 1, TOOL_USAGE = 2, TOOL_NOT_EXECUTABLE = 126, TOOL_NOT_FOUND = 127 };

/*
 * arch COMMAND [ADVICE]: can libgmod.so be preloaded into COMMAND? Searches PATH and follows #! lines as execvp would.
 * Silent and 0 when nothing speaks against it, else one line on stderr and TOOL_USAGE, TOOL_NOT_EXECUTABLE or
 * TOOL_NOT_FOUND. Run with LD_PRELOAD set, it also notices a libgmod.so that the loader refused, and says ADVICE about
 * it.
 */
int tool_arch(char **arguments);

/* doctor: what GMOD finds on this machine. 0: with these options the device memory of programs is guarded here. */
int tool_doctor(char **arguments);

/*
 * supervise COMMAND...: runs COMMAND, passes signals on to it, and says afterwards what share of its device memory was
 * guarded. Ends as COMMAND ended: with its exit status, or by the signal that ended it.
 */
int tool_supervise(char **arguments);

/* The command that the user typed, for messages: GMOD_COMMAND, which its script sets, or gmod. */
#define TOOL_NAME_VARIABLE "GMOD_COMMAND"

/* A line on stderr, after the command's name. */
__attribute__((format(printf, 1, 2))) void tool_say(const char *format, ...);

#endif
