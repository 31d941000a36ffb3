/*
 * What is wrong with a buffer that a kernel found to be corrupt, by the words in and around it that came along and the
 * host's own key.
 */
#ifndef GMOD_HOST_DEVICE_VERDICT_H
#define GMOD_HOST_DEVICE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "include/gmod/device_ring.h"
#include "monitor/registry/finding.h"

struct gmod_verdict {
	enum gmod_class class;
	uint64_t size;
	int64_t first,
	    last;         /* changed bytes of the head, the tail or the fill, as offsets from the user's first byte */
	uint64_t changed; /* of them, those that differ */
	uint8_t observed[GMOD_OBSERVED_MAX], expected[GMOD_OBSERVED_MAX]; /* from the first on */
	unsigned count;                                                   /* of these */
};

/*
 * A copy of the ring's slot, which may hold anything. false: it is not what gmod_say() writes, or nothing is wrong with
 * the buffer any more.
 */
bool gmod_device_judge(const uint64_t key[2], const struct gmod_device_finding *f, struct gmod_verdict *out);

/* Is it sealed, and of a class that there is? */
bool gmod_device_finding_is_sane(const uint64_t key[2], const struct gmod_device_finding *f);

#endif
