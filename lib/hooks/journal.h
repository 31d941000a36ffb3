/* What hooks tell the journal of launches (monitor/launches/journal.h). */
#ifndef GMOD_LIB_HOOKS_JOURNAL_H
#define GMOD_LIB_HOOKS_JOURNAL_H

#include "lib/driver/driver.h"
#include "monitor/launches/journal.h"
#include "monitor/launches/launch.h"

static inline bool gmod_journal_on(void)
{
	return __builtin_expect(atomic_load_explicit(&gmod_hot.journal, memory_order_relaxed), 0);
}

/* The launch that was just recorded; config: whose attributes say what clusters there are, or NULL. */
__attribute__((cold)) void gmod_journal_hook(const struct gmod_thread *t, const struct gmod_launch *l,
					     struct gmod_journal_shape *shape, const CUlaunchConfig *config);
/* A node that is to be launched in the current context; s NULL: its parameters are not known. */
void gmod_journal_node(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *p, uint64_t function,
		       const struct gmod_signature *s);

#endif
