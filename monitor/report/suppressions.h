/* Findings that the user wants kept quiet: a file of lines CLASS:PATTERN, which gmod(1) describes. */
#ifndef GMOD_MONITOR_REPORT_SUPPRESSIONS_H
#define GMOD_MONITOR_REPORT_SUPPRESSIONS_H

#include "monitor/report/view.h"

/*
 * Take the file's lines, naming each bad one once, and forget those of before; "": there is no file. Call it before
 * others report.
 */
void gmod_suppressions_load(const char *path);

/* Note those that have covered nothing so far, at verbosity=1. */
void gmod_suppressions_say_unused(void);

/* *by_site: a line matches the stack that is its site, so that every finding of that is suppressed. */
bool gmod_is_suppressed(const struct gmod_report_view *v, bool *by_site);

#endif
