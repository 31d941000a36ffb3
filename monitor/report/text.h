/* A report in lines for people. */
#ifndef GMOD_MONITOR_REPORT_TEXT_H
#define GMOD_MONITOR_REPORT_TEXT_H

#include "monitor/report/view.h"

/* Append the whole report, each line ended. */
void gmod_report_text(const struct gmod_report_view *v, struct gmod_text *out);

#endif
