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

/* Of records that there is room for. */
static inline uint32_t positions(void)
{
	return (gmod_registry_used() + GMOD_BANK - 1) / GMOD_BANK * GMOD_BANK;
}

/* Claims everything there is: each position comes once, and no bank is added before all are taken. */
static inline void check_no_record_is_lost(void)
{
	uint32_t all_of_them = positions();
	struct gmod_record **all = calloc(all_of_them + 1, sizeof(*all));
	bool *seen = calloc(all_of_them, sizeof(*seen));

	for (uint32_t i = 0; i < all_of_them; i++) {
		all[i] = gmod_record_claim();
		CHECK(all[i]->position < all_of_them && !seen[all[i]->position], "claim %u: position %u of %u", i,
		      all[i]->position, all_of_them);
		CHECK(all[i]->position < gmod_registry_used(), "position %u is beyond those in use", all[i]->position);
		seen[all[i]->position] = true;
	}
	assert_int_equal(positions(), all_of_them);
	all[all_of_them] = gmod_record_claim();
	assert_int_equal(positions(), all_of_them + GMOD_BANK);
	for (uint32_t i = 0; i <= all_of_them; i++)
		gmod_record_abandon(all[i]);
	free(all);
	free(seen);
}
