/* What the tests of the registry share: its figures, and a count of its records. For test programs of one file. */
#pragma once

#include "monitor/registry/registry.h"
#include "tests/unit/support.h"

static inline struct gmod_registry_stats stats(void)
{
	struct gmod_registry_stats s;

	gmod_registry_stats(&s);
	return s;
}

/* Claims everything there is: each position comes once, and no chunk is added before all are taken. */
static inline void check_no_record_is_lost(void)
{
	uint32_t positions = gmod_registry_positions();
	struct gmod_record **all = calloc(positions + 1, sizeof(*all));
	bool *seen = calloc(positions, sizeof(*seen));

	for (uint32_t i = 0; i < positions; i++) {
		all[i] = gmod_record_claim();
		CHECK(all[i]->position < positions && !seen[all[i]->position], "claim %u: position %u of %u", i,
		      all[i]->position, positions);
		CHECK(all[i]->position < gmod_registry_used(), "position %u is beyond those in use", all[i]->position);
		seen[all[i]->position] = true;
	}
	assert_int_equal(gmod_registry_positions(), positions);
	all[positions] = gmod_record_claim();
	assert_int_equal(gmod_registry_positions(), positions + GMOD_BANK);
	for (uint32_t i = 0; i <= positions; i++)
		gmod_record_abandon(all[i]);
	free(all);
	free(seen);
}
