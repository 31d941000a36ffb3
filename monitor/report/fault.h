/* The words for a fault of the GPU. */
#ifndef GMOD_MONITOR_REPORT_FAULT_H
#define GMOD_MONITOR_REPORT_FAULT_H

#include "monitor/registry/finding.h"
#include "monitor/report/symbol.h"

enum { GMOD_FAULT_FILE_SHOWN = 512 }; /* bytes of a path, in text */

/* Names are readable ones; "": not known, or there is none. */
struct gmod_fault_view {
	const struct gmod_finding *finding;
	const struct gmod_fault *raw;       /* NULL: the finding is of another class */
	const struct gmod_fault_lane *lane; /* the one that the finding is about; NULL: there is none */
	bool has_address;                   /* certain, in finding->address */
	bool has_thread;                    /* it is that lane, and may not be another one of its warp */
	const char *kind;                   /* "illegal-address", for programs */
	uint64_t distance;                  /* from the address to the buffer */
	char kernel[GMOD_SHORT_NAME_MAX], function[GMOD_SHORT_NAME_MAX];
	struct {
		char file[1024]; /* with its directory */
		char function[GMOD_SHORT_NAME_MAX];
	} line[GMOD_FAULT_INLINED];
};

void gmod_fault_view(struct gmod_fault_view *v, const struct gmod_finding *f);

/* A hash of its kernel and instruction, from h on; 0: neither is known. */
uint64_t gmod_fault_site_hash(uint64_t h, const struct gmod_fault *fault);

/* Append "scale_kernel+0x170" ("-": no name is known), "oob.cu:7 in row". */
void gmod_fault_site_text(struct gmod_text *t, const struct gmod_fault_view *v);
void gmod_fault_line_text(struct gmod_text *t, const struct gmod_fault_view *v, unsigned i);

/* ... "scale_kernel, at oob.cu:7", the place and the bytes of the instruction, and which thread it was. */
void gmod_fault_kernel_text(struct gmod_text *t, const struct gmod_fault_view *v);
void gmod_fault_instruction_text(struct gmod_text *t, const struct gmod_fault_view *v);
void gmod_fault_thread_text(struct gmod_text *t, const struct gmod_fault_view *v);

void gmod_fault_title(struct gmod_text *t, const struct gmod_fault_view *v);

/* Which line is the first that the user wrote: atomics and __ldg are inlined from headers of the toolkit. */
unsigned gmod_fault_users_line(const struct gmod_fault_view *v);

/* What to do next, if a line is known or could be. */
bool gmod_fault_next_step(struct gmod_text *t, const struct gmod_fault_view *v);

#endif
