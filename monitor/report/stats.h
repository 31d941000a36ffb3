/*
 * The file of stats_path: the counts so far, for Prometheus. Whoever reads it finds it whole: a new file takes the
 * place of the old one. A file that cannot be written is said once, and tried again.
 */
#ifndef GMOD_MONITOR_REPORT_STATS_H
#define GMOD_MONITOR_REPORT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/report/summary.h"

/* Choose the file that the pattern names; "": none. Not thread-safe. */
void gmod_stats_open(const char *pattern);

/*
 * Write these counts, unless they are there already, or the last ones are. By a thread of GMOD's, or one that ends the
 * process. Returns for how long, in ns, a thread that does it may sleep.
 */
uint64_t gmod_stats_write(const struct gmod_run_summary *s, bool last);

#endif
