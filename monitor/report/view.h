/* What a report says, made of a finding once, and then written in one format or the other. */
#ifndef GMOD_MONITOR_REPORT_VIEW_H
#define GMOD_MONITOR_REPORT_VIEW_H

#include "monitor/registry/finding.h"
#include "monitor/report/fault.h"
#include "monitor/report/symbol.h"

enum { GMOD_ALLOCATED, GMOD_FREED, GMOD_CALLED, GMOD_STACKS }; /* whose a stack is */

/*
 * All that a report says, in the order of computing it; the same for both formats. Strings are printable already
 * (escaped), unless they are the finding's own.
 */
struct gmod_report_view {
	const struct gmod_finding *finding;
	const char *class_name;
	uint64_t now_ns;
	/* Over class, modules and offsets, or a fault's kernel, so that it is the same in every run; 0: not known. */
	uint64_t site_hash;
	uint64_t place; /* of the allocation, for the option fence_sites; 0: it has no stack */
	struct gmod_frames stack[GMOD_STACKS];
	char suspect[GMOD_SUSPECTS_MAX][GMOD_SHORT_NAME_MAX]; /* their readable names; "": unknown */
	struct gmod_fault_view fault;
	char command[2048]; /* the program's, as a shell reads it, behind a blank */
	bool is_of_job;     /* the command starts more processes than this one */
	char gpu[64];       /* the buffer's, "GPU-…"; "": unknown */
	char title[512];
	char site[512];
	char next_step[3072];
	char suppression[600]; /* the line that would cover it; "": no name for it */
	char nearby_site[GMOD_NEARBY_MAX][512];
};

struct gmod_view_scratch {
	struct gmod_symbol_scratch symbols;
	struct gmod_frames one;
};

void gmod_view_make(struct gmod_report_view *v, const struct gmod_finding *f, struct gmod_view_scratch *scratch);

/* The frames of a stack, named, in s->one, and in words where it is. */
void gmod_view_site(struct gmod_view_scratch *s, const struct gmod_stack *stack, char *site, size_t cap);

/* Append "CUDA_ERROR_INVALID_VALUE (1)", for the call's or the sticky error. */
void gmod_error_text(struct gmod_text *t, const struct gmod_finding *f);

#endif
