/* The part of gmod.h on in-kernel memory, until it is there. */
#ifndef BENCH_GMOD_DEVICE_API_H
#define BENCH_GMOD_DEVICE_API_H

#include "../include/gmod.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A guard pass over everything, begun after the call, and its findings; GMOD_BUSY if kernels kept it out for 2 s. */
enum gmod_status gmod_device_check(void);

struct gmod_device_stats {
	size_t struct_size;
	uint64_t heap_bytes, committed_bytes, used_bytes, peak_bytes;
	uint64_t live_buffers, live_bytes, waiting_buffers;
	uint64_t high_water_buffers, high_water_bytes;
	uint64_t released_buffers, quarantined_buffers;
	uint64_t failed_allocations, reclaims;
	uint64_t findings, findings_lost, passes;
};

/* Of the calling thread's current context. */
enum gmod_status gmod_device_get_stats(struct gmod_device_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
