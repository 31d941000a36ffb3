/* The first line of a report: what has happened, in a few words, by the finding's class. */
#ifndef GMOD_MONITOR_TITLE_H
#define GMOD_MONITOR_TITLE_H

#include "lib/base/text.h"
#include "monitor/registry/finding.h"

/* Each appends one line without its end. */
void gmod_title_corruption(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_use_after_free(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_double_free(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_invalid_free(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_out_of_bounds(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_leak(const struct gmod_finding *f, struct gmod_text *t);
void gmod_title_post_mortem(const struct gmod_finding *f, struct gmod_text *t);

/* What follows "[finding N" in a first line. */
const char *gmod_provisional_words(const struct gmod_finding *f);

/* "cuMemsetD8_v2" and the like, never NULL. */
const char *gmod_entry_point(const struct gmod_finding *f);

/* Append "CUDA_ERROR_INVALID_VALUE (1)", for the call's or the sticky error. */
void gmod_error_text(struct gmod_text *t, const struct gmod_finding *f);

#endif
