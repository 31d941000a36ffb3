/*
 * The closing line: what a run amounted to. It has the phrases "guarded N of M buffers," ("of 1 buffer,") and "(P %)",
 * or else "no device buffers". From any thread and from signal handlers; nothing allocates.
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

/* Append the line, ended. */
void gmod_summary_text(const struct gmod_run_summary *s, struct gmod_text *out);
void gmod_summary_json(const struct gmod_run_summary *s, struct gmod_text *out);

/* Append the same in Prometheus' text format; each sample has these labels. */
void gmod_summary_prometheus(const struct gmod_run_summary *s, const char *labels, struct gmod_text *out);

#endif
