/* How findings of each class are told. Their names are in monitor/registry/finding.c, for suppressions too. */
#ifndef GMOD_MONITOR_CLASSES_H
#define GMOD_MONITOR_CLASSES_H

#include "lib/base/text.h"
#include "monitor/registry/finding.h"

struct gmod_class_row {
	bool by_call;   /* its site is the call that was made, not the buffer's allocation */
	bool by_kernel; /* kernels are suspected */
	void (*title)(const struct gmod_finding *f, struct gmod_text *t);
	void (*next_step)(const struct gmod_finding *f, const char *site, struct gmod_text *t);
};

const struct gmod_class_row *gmod_class_row(enum gmod_class class);

/* The stack that tells one bug from another. */
const struct gmod_stack *gmod_site_stack(const struct gmod_finding *f);

#endif
