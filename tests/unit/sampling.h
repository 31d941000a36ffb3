/* What the tests of the sampler share: sites, and how much guarding may cost. */
#pragma once

#include "lib/base/facts.h"
#include "lib/base/hash.h"
#include "lib/base/phase.h"
#include "lib/base/sampler.h"
#include "tests/unit/support.h"

#define US ((uint64_t)1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)

enum { ONE_PERCENT = GMOD_PERCENT_ONE, ALL = 100 * GMOD_PERCENT_ONE };

static inline uint64_t key_of(uint64_t number)
{
	return gmod_hash(number + 1);
}

/* max_overhead */
static inline void set_rate(unsigned rate)
{
	((struct gmod_options *)(uintptr_t)gmod_options())->max_overhead = rate;
}

static inline void begin(unsigned rate)
{
	set_rate(rate);
	gmod_hot.key[0] = 4711;
}
