/* The last thing that a report says: what to do next, by the finding's class. */
#ifndef GMOD_MONITOR_REPORT_NEXT_H
#define GMOD_MONITOR_REPORT_NEXT_H

#include "lib/base/text.h"
#include "monitor/registry/finding.h"
#include "monitor/report/demangle.h"

typedef const char (*gmod_short_names)[GMOD_SHORT_NAME_MAX]; /* by suspect, readable */

/* Appends one line without its end. site: the function and module that the SUMMARY line names. */
void gmod_next_step(const struct gmod_finding *f, const char *site, gmod_short_names kernels, struct gmod_text *t);

/* The last plain identifier in a readable name, which is part of the mangled one as well; NULL: there is none. */
const char *gmod_kernel_substring(const char *readable, size_t *len);

#endif
