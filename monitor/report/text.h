/* A report in lines for people. */
#ifndef GMOD_MONITOR_REPORT_TEXT_H
#define GMOD_MONITOR_REPORT_TEXT_H

#include "monitor/report/view.h"

/* Append the whole report, each line ended. */
void gmod_report_text(const struct gmod_report_view *v, struct gmod_text *out);

/*
 * A short name for a stream: 1 for the first one that a report of this process names, and so on; the same for the same
 * handle. 0: there have been too many.
 */
unsigned gmod_stream_number(uint64_t handle);

#endif
