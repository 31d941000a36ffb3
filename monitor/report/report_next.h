/* The last thing that a report says: what to do next, by the finding's class. */
#ifndef GMOD_MONITOR_REPORT_NEXT_H
#define GMOD_MONITOR_REPORT_NEXT_H

#include <stdbool.h>

struct gmod_finding;
struct gmod_report_view;
struct gmod_text;

/* Each appends one line without its end; all of the view but next_step is there. */
void gmod_next_memcheck(const struct gmod_report_view *v, struct gmod_text *t);
void gmod_next_double_free(const struct gmod_report_view *v, struct gmod_text *t);
void gmod_next_invalid_free(const struct gmod_report_view *v, struct gmod_text *t);
void gmod_next_out_of_bounds(const struct gmod_report_view *v, struct gmod_text *t);
void gmod_next_leak(const struct gmod_report_view *v, struct gmod_text *t);

/* Can the CPU have written there by a plain store? */
bool gmod_cpu_may_write(const struct gmod_finding *f);

#endif
