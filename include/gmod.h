/*
 * gmod.h: the host API of libgmod.
 *
 * A program needs none of this: LD_PRELOAD=libgmod.so guards it as it is. The functions here are for programs and tests
 * that want to ask. All of them may be called from any thread at any time, also when CUDA is not in use and when GMOD
 * is disabled; none may be called from a signal handler; in a forked child they report an inactive GMOD. A program that
 * does not link libgmod declares them weak and tests for NULL.
 */
#ifndef GMOD_H
#define GMOD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GMOD_VERSION "0.1.0"

enum gmod_status {
	GMOD_OK = 0,
	GMOD_INACTIVE = 1, /* not preloaded early enough, disabled, or CUDA not initialised: nothing was looked at */
	GMOD_BUSY = 2,     /* another thread's check held it up for 2 s: try again */
};

/*
 * Look at every canary now: all that the CPU can see, and the slack on the device through copies on a stream of GMOD's
 * own. Waits for those copies (at most 100 ms each 64 KiB), never for the program's kernels; a kernel that is running
 * may still write afterwards. Findings come out as reports. Not to be called from a callback of the driver.
 */
enum gmod_status gmod_check(void);

/* Counters of this process. Filled also when inactive, with zeros. Sizes are bytes. */
struct gmod_stats {
	size_t struct_size;                      /* set by the caller: sizeof(struct gmod_stats) of its header */
	uint64_t buffers_guarded, bytes_guarded; /* device buffers so far */
	uint64_t buffers_unprotected, bytes_unprotected; /* of the same entry points, left native */
	uint64_t allocations_uncovered, bytes_uncovered; /* pools, virtual memory, graph nodes */
	uint64_t live_buffers, live_bytes;               /* guarded, of any kind, now */
	uint64_t sweeps;
	uint64_t findings; /* final and not suppressed */
	uint64_t degraded; /* times something of GMOD's own failed and the program went on without it */
	unsigned hooks_armed;
};

/* Fills at most stats->struct_size bytes. */
void gmod_get_stats(struct gmod_stats *stats);

/* How many findings have been seen, counting one at its first sight, before its final report. */
unsigned gmod_findings_seen(void);

/* "0.1.0"; static. */
const char *gmod_version(void);

#ifdef __cplusplus
}
#endif

#endif
