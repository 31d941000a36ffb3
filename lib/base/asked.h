/*
 * What a device can do, asked of the driver once: the answer is the same for all of its contexts. Two threads that ask
 * at the same time get the same answer twice.
 */
#ifndef GMOD_LIB_BASE_ASKED_H
#define GMOD_LIB_BASE_ASKED_H

#include <stdatomic.h>

enum { GMOD_DEVICES = 64 }; /* of devices beyond, nothing is guarded */

struct gmod_asked {
	_Atomic unsigned answer[GMOD_DEVICES]; /* and 1; 0: not asked yet */
};

static inline unsigned gmod_ask_once(struct gmod_asked *a, int device, unsigned (*ask)(int device))
{
	unsigned known;

	if (device < 0 || device >= GMOD_DEVICES)
		return 0;
	known = atomic_load_explicit(&a->answer[device], memory_order_relaxed);
	if (!known) {
		known = 1 + ask(device);
		atomic_store_explicit(&a->answer[device], known, memory_order_relaxed);
	}
	return known - 1;
}

#endif
