/*
 * What the process has counted. From any thread; relaxed, because a count orders nothing.
 */
#ifndef GMOD_LIB_BASE_COUNTERS_H
#define GMOD_LIB_BASE_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

struct gmod_counters {
	_Atomic uint64_t guarded, guarded_bytes;         /* device buffers guarded, of those asked for by cuMemAlloc* */
	_Atomic uint64_t fallback, fallback_bytes;       /* ... and those that stayed native */
	_Atomic uint64_t unsupported, unsupported_bytes; /* pools, VMM, graph nodes: no guard for them yet */
	_Atomic uint64_t host, host_bytes;               /* pinned host buffers guarded */
	/* of buffers that kernels allocate: those seen so far, left at the end, and findings for which there was no
	 * room */
	_Atomic uint64_t kernel_buffers, kernel_left, kernel_left_bytes, kernel_lost;
	_Atomic uint64_t degraded;
	_Atomic uint64_t sweeps;
};
extern struct gmod_counters gmod_counters;

static inline void gmod_count(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

#endif
