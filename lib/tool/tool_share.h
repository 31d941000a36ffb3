/*
 * What share of a job's device memory was guarded, from the closing lines of its processes.
 */
#ifndef GMOD_LIB_TOOL_SHARE_H
#define GMOD_LIB_TOOL_SHARE_H

#include <stdbool.h>

/* Bytes are as exact as the closing line: a text line rounds them to tenths of a unit. */
struct share {
	double guarded, handed_out; /* bytes of device memory; handed_out includes what GMOD does not cover yet */
	unsigned processes;         /* that said how much */
	unsigned sharers;           /* of these, with any device memory */
	unsigned permille;          /* as the last sharer put it: what a single one says is what is said of the job */
	bool partly;                /* not everything was guarded */
};

/* Add a closing line, text or JSON; any other line is passed over. */
void share_add_line(struct share *share, const char *line);

/* One line on stderr. verbosity: the job's, because at 0 there are no closing lines. */
void share_say(const struct share *share, unsigned verbosity);

#endif
