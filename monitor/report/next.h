/* The last thing that a report says: what to do next, by the finding's class. */
#ifndef GMOD_MONITOR_NEXT_H
#define GMOD_MONITOR_NEXT_H

#include "lib/base/text.h"
#include "monitor/registry/finding.h"

/* Each appends one line without its end. site: the function and module that the SUMMARY line names. */
void gmod_next_memcheck(const struct gmod_finding *f, const char *site, struct gmod_text *t);
void gmod_next_double_free(const struct gmod_finding *f, const char *site, struct gmod_text *t);
void gmod_next_invalid_free(const struct gmod_finding *f, const char *site, struct gmod_text *t);
void gmod_next_out_of_bounds(const struct gmod_finding *f, const char *site, struct gmod_text *t);
void gmod_next_leak(const struct gmod_finding *f, const char *site, struct gmod_text *t);

#endif
