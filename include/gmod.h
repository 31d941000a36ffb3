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
	GMOD_BUSY = 2,    /* other checks, kernels of the program, or too many findings held it up for 2 s: try again */
	GMOD_NO_HEAP = 3, /* no heap yet in the calling thread's current context: see below */
	GMOD_TOO_LATE = 4, /* a device heap has been made already: configure before the first such launch */
	GMOD_INVALID = 5,  /* an argument is out of range: nothing was changed */
	GMOD_FAILED = 6,   /* the driver refused; GMOD_OPTIONS=verbosity=2 says what */
	GMOD_SKIPPED = 7,  /* nothing was done, as options or the moment want it: see gmod_guard() */
};

/* What a status means and what to do about it, as one line; static, never NULL. */
const char *gmod_status_text(enum gmod_status status);

/*
 * Look at every canary now: those that the CPU can see, and through copies on a stream of GMOD's own those that lie on
 * the device, behind the last byte of a buffer. Waits for those copies (at most 100 ms each 64 KiB), never for the
 * program's kernels; a kernel that is running may still write afterwards. Buffers of kernels are looked at as
 * gmod_device_check() does, which also says whether it could. Findings come out as reports. Not to be called from a
 * callback of the driver.
 */
enum gmod_status gmod_check(void);

/*
 * In between no new buffer is guarded, and GMOD asks the device for no look: for a part of the program that is to run,
 * or to be timed, as it would natively. What is guarded stays so: its free is a look as ever, and gmod_continue() has
 * the others looked at again. So do gmod_check() and the end of the process, suspended or not. A finding of what was
 * written meanwhile has more suspects.
 *
 * Of the whole process, from any thread. Calls count: after two gmod_suspend(), perhaps of two threads, GMOD goes on
 * with the second gmod_continue(). When gmod_suspend() returns GMOD_OK no look is being asked any more, unless another
 * thread is inside a call of the driver's; GMOD_BUSY: one takes longer than 2 s, and is the last. GMOD_INVALID:
 * gmod_continue() without a gmod_suspend().
 */
enum gmod_status gmod_suspend(void);
enum gmod_status gmod_continue(void);

/*
 * Ranges of a pool of the program's own, which are one buffer for GMOD. gmod_guard() gives the range [ptr, ptr + size)
 * a name, and guard bytes in the padding that the program leaves behind it: 4 bytes at least, of which the first 128
 * are used. gmod_unguard() looks at them and gives the range back. Both put their work into the stream (a CUstream or a
 * cudaStream_t), a fill and a copy, and wait for nothing: what uses the range has to come behind the one and before the
 * other, as it comes between an allocation and a free in stream order. In between the padding is GMOD's. So:
 *
 *	p = take_from_pool(size + 64, stream);          gmod_unguard(p, stream);
 *	gmod_guard(p, size, 64, stream, "activations"); give_to_pool(p, stream);
 *
 * As many are guarded as max_overhead pays for, the first of each caller and then a random choice; all with
 * max_overhead=100. GMOD_SKIPPED: this one is not; or none can be just now, because GMOD is suspended, the stream
 * captures (or it is the legacy stream, and any does), a profiler is there, or 8000 are guarded already; or the memory
 * is not of the device. GMOD_INVALID: ptr or size is 0, padding is less than 4, or a guarded range begins there. The
 * name is copied, 63 bytes at most; NULL is none. The stream is of the current context; NULL is the legacy default
 * stream.
 *
 * gmod_unguard() of what is not guarded is GMOD_INVALID, and harmless: call it for every range. It comes before the
 * range is used for something else, and before the memory around it is freed or unmapped.
 */
enum gmod_status gmod_guard(void *ptr, size_t size, size_t padding, void *stream, const char *name);
enum gmod_status gmod_unguard(void *ptr, void *stream);

/* Counters of this process. Filled also when inactive, with zeros. Sizes are bytes. */
struct gmod_stats {
	size_t struct_size;                          /* set by the caller: sizeof(struct gmod_stats) of its header */
	uint64_t buffers_guarded, bytes_guarded;     /* device buffers so far */
	uint64_t buffers_unguarded, bytes_unguarded; /* of the same entry points, left native */
	uint64_t allocations_uncovered, bytes_uncovered; /* pools, virtual memory, graph nodes */
	uint64_t live_buffers, live_bytes;               /* guarded, of any kind, now */
	uint64_t sweeps;
	uint64_t findings; /* final and not suppressed */
	uint64_t degraded; /* times something of GMOD's own failed and the program went on without it */
	unsigned hooks_armed;
};

/* Fills at most stats->struct_size bytes. */
void gmod_get_stats(struct gmod_stats *stats);

/*
 * Memory that kernels allocate (gmod_device.cuh).
 *
 * Nothing here has to be called: the first launch in a context one of whose modules includes gmod_device.cuh makes the
 * heap there and starts its guard. Functions that speak of "the heap" mean that of the calling thread's current
 * context, and answer GMOD_NO_HEAP before there is one. None of them may be called from a callback of the driver.
 */
#define GMOD_DEVICE_HEAP_MAX ((uint64_t)1 << 36) /* its tables take 0.4 % of that at once */

/* 0 in a member: as GMOD_OPTIONS says. */
struct gmod_device_config {
	size_t struct_size;  /* set by the caller: sizeof(struct gmod_device_config) of its header */
	uint64_t heap_bytes; /* device memory that a heap takes: 1 MiB to GMOD_DEVICE_HEAP_MAX (64 GiB) */
	unsigned guards;     /* guard workers, which share the heap: 1 to 256 */
};

/* For all heaps of the process, before the first is made. GMOD_INVALID, GMOD_TOO_LATE: nothing has been changed. */
enum gmod_status gmod_device_configure(const struct gmod_device_config *config);

/*
 * Stop and start the guard of the heap. While it is stopped, corruption is found by freeN, by gmod_device_check() and
 * at the end of the process.
 */
enum gmod_status gmod_device_start(void);
enum gmod_status gmod_device_stop(void);

/*
 * Verify every buffer of every heap now, give back what is freed and report what is wrong: a guard pass that begins
 * after the call. Waits for it, 2 s at most; GMOD_BUSY: kernels left it no room on the device for as long as that, the
 * modules that had a guard kernel have been unloaded, or there is more to report than a second had room for.
 */
enum gmod_status gmod_device_check(void);

/* The heap in numbers, by copies that wait for no kernel. Buffers and bytes are the program's, without canaries. */
struct gmod_device_stats {
	size_t struct_size;          /* set by the caller: sizeof(struct gmod_device_stats) of its header */
	uint64_t heap_bytes;         /* device memory of its buffers */
	uint64_t committed_bytes;    /* the same: a heap has all of its memory at once, and does not grow */
	uint64_t used_bytes;         /* of that, in use, in whole chunks of 64 KiB */
	uint64_t peak_bytes;         /* the most there has been in use */
	uint64_t live_buffers;       /* allocated and not freed, by the latest guard pass */
	uint64_t live_bytes;         /* theirs */
	uint64_t waiting_buffers;    /* freed and not yet given back */
	uint64_t high_water_buffers; /* the most live ones that a guard pass has seen */
	uint64_t high_water_bytes;
	uint64_t released_buffers;   /* given back so far */
	uint64_t damaged_entries;    /* that kernels have overwritten: their buffers are not guarded, nor given back */
	uint64_t failed_allocations; /* mallocN that returned NULL */
	uint64_t unused;             /* always 0: in the place of a counter that there is no more */
	uint64_t findings;           /* so far */
	uint64_t findings_lost;      /* of those, not reported: too many at once */
	uint64_t passes;             /* of the guard */
};

/* Fills at most stats->struct_size bytes; all zeros unless it returns GMOD_OK. */
enum gmod_status gmod_device_get_stats(struct gmod_device_stats *stats);

/* How many findings have been seen, counting one at its first sight, before its final report. */
unsigned gmod_findings_seen(void);

/* "0.1.0"; static. */
const char *gmod_version(void);

#ifdef __cplusplus
}
#endif

#endif
