/*
 * What a device can do, asked of the driver once: the answer is the same for all of its contexts. Two threads that ask
 * at the same time get the same answer twice. And how much of its memory GMOD may take by such an answer.
 */
#ifndef GMOD_LIB_BASE_ASKED_H
#define GMOD_LIB_BASE_ASKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Bytes of each device that have been taken, and the most that may be, in KiB. */
struct gmod_cap {
	struct gmod_asked most;
	_Atomic uint64_t taken[GMOD_DEVICES];
};

/* false: that would be more than a share of what ask() says (1: all of it), and nothing is taken. */
static inline bool gmod_take(struct gmod_cap *c, int device, uint64_t bytes, unsigned share,
			     unsigned (*ask)(int device))
{
	uint64_t most = ((uint64_t)gmod_ask_once(&c->most, device, ask) << 10) / share;
	uint64_t before = atomic_load_explicit(&c->taken[device], memory_order_relaxed);

	do {
		if (bytes > most || before > most - bytes)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&c->taken[device], &before, before + bytes,
							memory_order_relaxed, memory_order_relaxed));
	return true;
}

/* Bytes that gmod_take() has taken are there for others again. */
static inline void gmod_give(struct gmod_cap *c, int device, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&c->taken[device], bytes, memory_order_relaxed);
}

#endif
