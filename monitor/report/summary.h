/*
 * What a run amounts to: the closing line, and a file of the same while it goes on. The line has the phrases "guarded N
 * of M buffers," ("of 1 buffer,") and "(P %)", or else "no device buffers". From any thread and from signal handlers;
 * nothing allocates.
 */
#ifndef GMOD_MONITOR_REPORT_SUMMARY_H
#define GMOD_MONITOR_REPORT_SUMMARY_H

#include "lib/base/counters.h"
#include "lib/base/text.h"
#include "monitor/registry/finding.h"

struct gmod_run_summary {
	struct gmod_counts count;
	unsigned findings[GMOD_CLASS_COUNT];
};

/* Device memory that was guarded, in bytes. */
uint64_t gmod_summary_guarded(const struct gmod_run_summary *s);
/* All the device memory that the program got, in bytes, whether GMOD can guard its kind or not. */
uint64_t gmod_summary_bytes(const struct gmod_run_summary *s);

/* What the line says of PyTorch: at the start, because another thread may have the loader's lock at the end. */
void gmod_summary_begin(void);

/* Append the line, ended. */
void gmod_summary_text(const struct gmod_run_summary *s, struct gmod_text *out);
void gmod_summary_json(const struct gmod_run_summary *s, struct gmod_text *out);

/*
 * The file of stats_path: the same so far, for Prometheus. Whoever reads it finds it whole: a new file takes the place
 * of the old one. A file that cannot be written is said once, and tried again. gmod_stats_open() chooses it, by a
 * pattern, "" for none, before others write.
 *
 * gmod_stats_write() writes it, unless that is there already: by a thread of GMOD's, or one that ends the process,
 * which says so. Returns for how long, in ns, a thread that does it may sleep.
 */
void gmod_stats_open(const char *pattern);
uint64_t gmod_stats_write(const struct gmod_run_summary *s, bool ends);

#endif
