/* What a report says, made of a finding once, and then written in one format or the other. */
#ifndef GMOD_MONITOR_VIEW_H
#define GMOD_MONITOR_VIEW_H

#include "monitor/report/classes.h"
#include "monitor/report/symbol.h"

#define GMOD_NEARBY_MAX 8 /* buffers listed in a post-mortem */

/*
 * All that a report says, in the order of computing it; the same for both formats. Strings are printable already
 * (escaped), unless they are the finding's own.
 */
struct gmod_report_view {
	const struct gmod_finding *finding;
	const struct gmod_class_row *class;
	const char *class_name, *status_words; /* what follows "[finding N" in a first line */
	uint64_t now_ns;
	uint64_t site_hash; /* over class, modules and offsets, so that it is the same in every run; 0: no stack */
	int64_t offset;     /* as in the SUMMARY line */
	struct gmod_frames allocated, freed, called;
	bool corruption;                                      /* bytes were changed */
	char suspect[GMOD_SUSPECTS_MAX][GMOD_SHORT_NAME_MAX]; /* their readable names; "": unknown */
	char title[512];
	char site[512];
	char next_step[3072];
	uint32_t nearby_count;
	char nearby_site[GMOD_NEARBY_MAX][512];
};

struct gmod_view_scratch {
	struct gmod_symbol_scratch symbols;
	struct gmod_frames one;
};

void gmod_view_make(struct gmod_report_view *v, const struct gmod_finding *f, struct gmod_view_scratch *scratch);

/* The number behind "offset" in the SUMMARY line; finding.h says from where it counts. */
int64_t gmod_summary_offset(const struct gmod_finding *f);

#endif
