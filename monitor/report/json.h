/* A report as one line of JSON. */
#ifndef GMOD_MONITOR_REPORT_JSON_H
#define GMOD_MONITOR_REPORT_JSON_H

#include "monitor/report/view.h"

/* Append the whole report, each line ended. */
void gmod_report_json(const struct gmod_report_view *v, struct gmod_text *out);

/* The members "python" and "frames" of a stack, behind others. By one thread only: it works in memory of its own. */
void gmod_report_json_stack(struct gmod_text *t, const struct gmod_stack *stack);

/* The members "site", "python" and "frames", behind others, with the names of functions as a person reads them. */
void gmod_report_json_site(struct gmod_text *t, const struct gmod_stack *stack, struct gmod_view_scratch *scratch);

#endif
