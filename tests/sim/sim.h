/*
 * The simulated driver: a libcuda.so.1 over host memory, so that GMOD can run, be tested and be shown where
 * there is no GPU. A test double: what it promises is native error codes, rounding, attributes, ordering and
 * waiting, as tests/programs/conformance prints them. No performance figure may ever come from it.
 *
 * How it works
 *
 *	Every entry point opens with sim_enter(), which takes the one lock and says whether the call is refused
 *	(not initialised, no context, sticky error, injected fault), and ends with sim_leave(), which traces
 *	and unlocks; ENTRY() has both around what the call does. The lock is given up while a call waits and
 *	is never held while a kernel, a copy or a host function runs, so bodies need no locking of their own.
 *
 *	Work (work.c) is queued on streams as ops (queue.c). An op is run by its stream's worker thread once
 *	the ops it depends on are done: events, the legacy stream's rules and waiting are all dependencies
 *	between ops. A capturing stream turns work into graph nodes instead (capture.c, graph.c).
 *
 *	Device memory is one sparse memfd (arena.c), so that VMM can map a piece twice and IPC can hand it to
 *	another process. Managed and pinned memory is private. What is freed at page granularity is unmapped.
 *
 * Where things are
 *
 *	call inject init error procaddr absent	entry: prologue, faults and traces, cuInit and exit, names
 *	device context context_query green	what a call runs in
 *	arena chunks slab block memory host managed*	addresses, and the memory behind them
 *	access					what kernels may touch of it; checked.h is the kernels' half
 *	pool pool_memory vmm ipc array pointer	... of more kinds, and what is known of an address
 *	work queue stream event fault		what runs, in which order, and what happens when it faults
 *	coredump coredump_file			... and the driver is to write an exception dump
 *	copy* memset memops			what work is made from
 *	launch module library function		... and kernels
 *	capture graph*				work that is kept for later
 *	ledger					what was not given back
 *
 * Not simulated: textures and surfaces, external memory, events between processes, conditional and event
 * nodes, what green contexts are for, changes to the edges of a graph, what a dma-buf is good for; what the CUDA
 * runtime alone asks for, as its programs run on GPUs only; a host that touches device memory, which is there for it;
 * kernels that allocate for themselves are not checked; and what absent.c lists.
 *
 * There are two drivers: of CUDA 13.0, with a few newer calls, and in a folder of its own one of CUDA 12.2, which lacks
 * what came later and says that it is as old (sim.mk).
 *
 * Environment, read once when the library is loaded
 *
 *	SIM_DEVICES=1			how many devices
 *	SIM_MEMORY=17179869184		bytes of memory of each
 *	SIM_CONCURRENT_MANAGED=1	0: the devices lack concurrentManagedAccess
 *	SIM_SEAL=0			1: at exit also the memory that the host can use goes, so that a test notices
 *					who still looks at it (with a real driver it stays)
 *	SIM_FAIL=NAME:N[:CODE][,...]	the Nth call (from 1; N-M; *: every one) of the exported symbol NAME fails
 *					with CODE and does nothing; without, 2 for allocations and else 999
 *	SIM_SIGNAL=NAME:N[,...]		SIGALRM comes in the midst of such a call, while it holds the driver's lock
 *	SIM_STALL=NAME:N:MS[,...]	such a call takes MS milliseconds before it does anything
 *	SIM_MPS=0			1: the devices say that contexts are shared by MPS
 *	SIM_DUMP_DELAY=45		milliseconds between a fault and its exception dump
 *	SIM_DUMP_CUT=N			a dump ends after N bytes
 *	SIM_DUMP_EMPTY=0		1: a dump names neither instruction nor grid
 *	SIM_DUMP_FORGOTTEN=0		1: no error of the program comes behind a dump
 *	SIM_TRACE=path			append a line a call: symbol, result, basename of the calling module
 *	SIM_LEDGER=path			at exit, append what was not given back: a line a kind, with how many there are
 */
#ifndef SIM_H
#define SIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

/* All ABIs of a name, none renamed; the API is what the library exports, and nothing else is. */
#define __CUDA_API_VERSION_INTERNAL
#pragma GCC visibility push(default)
#include <cuda.h>
#include <cudaTypedefs.h>

#include "../../lib/driver/newer.h"

/* Newer ones than the toolkit's included. */
#define GMOD_HOOK(symbol, base, version, flavour) __typeof__(*(PFN_##base##_v##version##flavour)0) symbol;
#include "../../lib/driver/entrypoints.def"
#define GMOD_PLAIN(symbol, base, version, flavour) __typeof__(*(PFN_##base##_v##version##flavour)0) symbol;
#include "plain.def"
#pragma GCC visibility pop

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../programs/kernels.h"

#define SIM_MAX_DEVICES 16
extern const int sim_version; /* what the driver says that it is: 1000 * major + 10 * minor */

#define SIM_CHUNK ((size_t)2 << 20) /* what device memory is made of */
#define SIM_UNIT ((size_t)512)      /* what a chunk is divided into */

/* Handles carry one, so that a wrong one is mostly noticed. */
enum magic {
	MAGIC_CONTEXT = 0x53494d01,
	MAGIC_STREAM,
	MAGIC_EVENT,
	MAGIC_MODULE,
	MAGIC_FUNCTION,
	MAGIC_LIBRARY,
	MAGIC_KERNEL,
	MAGIC_GRAPH,
	MAGIC_NODE,
	MAGIC_EXEC,
	MAGIC_ARRAY,
};

/* call.c: the prologue and the epilogue of every entry point. */

enum need {
	NEEDS_NOTHING = 0,
	NEEDS_INIT = 1,
	NEEDS_CONTEXT = 2,     /* a current context without a sticky error */
	USES_CONTEXT = 4,      /* the same where there is a current context; it does without one too */
	UNSAFE_IN_CAPTURE = 8, /* one of the calls that a capture forbids */
};

struct call {
	const char *symbol;
	const void *caller;
	bool per_thread;  /* its default stream is the thread's own */
	CUcontext ctx;    /* the current context, for NEEDS_CONTEXT and USES_CONTEXT */
	CUresult refused; /* not CUDA_SUCCESS: the body must not run */
	CUstream stream;  /* as stream_of_call() found it */
};

/* The API decides what a call is given, and not all of it matters here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/*
 * An entry point that does one thing, which may name the call as c:
 *
 *	ENTRY(cuStreamDestroy, NEEDS_CONTEXT, TAKES(CUstream hStream), destroy(c.ctx, hStream))
 *
 * ENTRY_TWINS are two: the default stream is the legacy one and, of the one with the suffix, the thread's own.
 */
#define ENTRY_AS(symbol, needs, per_thread, parameters, does) \
	CUresult symbol parameters \
	{ \
		struct call c = sim_enter(#symbol, needs, per_thread, __builtin_return_address(0)); \
\
		return sim_leave(&c, c.refused ?: (does)); \
	}
#define TAKES(...) (__VA_ARGS__)
#define ENTRY(symbol, needs, parameters, does) ENTRY_AS(symbol, needs, false, parameters, does)
#define ENTRY_TWINS(symbol, suffix, needs, parameters, does) \
	ENTRY_AS(symbol, needs, false, parameters, does) \
	ENTRY_AS(symbol##suffix, needs, true, parameters, does)

/* The same by two names, of an older ABI and a newer one. */
#define ENTRY_ABIS(symbol, suffix, needs, parameters, does) \
	ENTRY(symbol, needs, parameters, does) \
	ENTRY(symbol##suffix, needs, parameters, does)

/* One that does more opens with this. */
#define ENTER(symbol, needs) sim_enter(#symbol, needs, false, __builtin_return_address(0))

/* What a question is answered with: *out is the value, unless there is no out, or nobody who can be asked. */
#define ANSWER(out, value) ANSWER_OF(true, CUDA_SUCCESS, out, value)
#define ANSWER_OF(can_be_asked, otherwise, out, value) \
	(!(out) ? CUDA_ERROR_INVALID_VALUE : (can_be_asked) ? (*(out) = (value), CUDA_SUCCESS) : (otherwise))

/* Takes an element out of a list that it is in. */
#define UNLINK(list, element) \
	do { \
		__typeof__(element) *link = &(list); \
\
		while (*link != (element)) \
			link = &(*link)->next; \
		*link = (element)->next; \
	} while (0)

static inline CUresult refuse_if(bool wrong, CUresult why)
{
	return wrong ? why : CUDA_SUCCESS;
}

struct call sim_enter(const char *symbol, unsigned needs, bool per_thread, const void *caller);
CUresult sim_leave(const struct call *call, CUresult result);
void sim_lock(void);
void sim_unlock(void);
pthread_mutex_t *sim_the_lock(void); /* to wait on a condition with */

/* inject.c: SIM_FAIL, SIM_SIGNAL, SIM_STALL and SIM_TRACE. */

extern bool sim_watched; /* one of them is set */
CUresult inject_failure(const char *symbol);
/* SIM_STALL's name may be that of a call, or "compile", or "copy": a copy in a stream, as it is made. */
void inject_stall(const char *symbol);
bool inject_may_stall(const char *symbol);
void inject_signal(const char *symbol);
void trace_call(const struct call *call, CUresult result);

/* init.c */

struct device {
	struct CUctx_st *primary;
	size_t used;     /* bytes of native memory given out */
	size_t resident; /* bytes of managed memory prefetched here; may be evicted */
	size_t kept;     /* of managed memory that was freed: not free, but what comes next is made from it */
	struct slab *slabs;
	CUmemoryPool default_pool, pool; /* NULL: not made; not set, so the default one */
	const struct work *full; /* a kernel with more blocks to run than the device has places: no other starts */
	CUresult lost;           /* a context of it faulted: no other comes to life in this process */
};

struct sim {
	enum { SIM_NEW, SIM_READY, SIM_TORN_DOWN } state;
	int devices;
	size_t memory, page;
	bool concurrent_managed, seal, mps;
	struct {
		size_t delay, cut;
		bool empty, forgotten;
	} dump;
	unsigned long long last_id; /* captures and buffers are numbered */
	struct device device[SIM_MAX_DEVICES];
	struct {
		long physicals, reservations, libraries, graphs;
	} held; /* how many there are of what no list has */
	struct CUctx_st *contexts;
	pthread_cond_t done; /* broadcast whenever an op is done */
};

extern struct sim sim;
extern bool sim_forked; /* this is a child of an initialised process */

bool device_exists(CUdevice device);
int device_bus(CUdevice device);
size_t device_free_memory(CUdevice device);

/* ledger.c: SIM_LEDGER. */

void ledger_write(void);

/* fault.c: what a kernel that touches unmapped memory ends in. */

struct fault {
	enum gt_fault what;
	unsigned line; /* 0: the kernel has not said it */
	uintptr_t at;
	size_t bytes;
	bool store;
};

void fault_install(void);
CUresult fault_guard(void (*run)(void *), void *arg);
void fault_now(void); /* of a kernel, in fault_guard() */
void fault_expect(uintptr_t at, size_t bytes, bool store);
void fault_said(enum gt_fault what, uintptr_t at, unsigned line);
struct fault fault_last(void); /* of this thread */

/*
 * coredump.c: what the driver does instead where a context is to write a dump and not to abort.
 *
 * One fault of the process is dumped. Settings are copied when a context comes to life.
 */

struct coredump_settings {
	bool enabled, aborts, lightweight, user;
	unsigned flags;
	char file[1024], pipe[1024];
};

struct work_kernel;
void coredump_read_environment(void);
struct coredump_settings coredump_settings(void);
bool coredump_holds_kernels(void);
CUresult coredump_take(const struct work_kernel *k, const struct gt_thread *self, CUresult error);
void coredump_hang(void);
void coredump_finish(void);

/* coredump_file.c: what is in it. */

struct coredump {
	struct fault fault;
	struct gt_thread thread;
	CUdevice device;
	CUcontext ctx;
	CUmodule module; /* NULL: of a library */
	bool stays, has_image, empty;
	int tid; /* who has launched it */
	unsigned line;
	char kernel[256], file[256];
	unsigned char parameters[8192];
	size_t parameter_bytes;
};

/* The bytes, to be freed. */
char *coredump_build(const struct coredump *d, size_t *size);

/* context.c */

struct CUctx_st {
	enum magic magic;
	CUcontext next;
	CUdevice device;
	bool primary, alive, in_order; /* in_order: memory has been asked for in stream order */
	unsigned flags, refs;          /* refs: retains of a primary context, or who is attached to another */
	CUcontext owner;               /* of a green context: the primary one, whose its memory is */
	CUgreenCtx green;
	unsigned api_version;
	CUresult sticky;
	struct coredump_settings dump;
	CUstream legacy, streams;
	CUmodule modules;
	CUarray arrays;
	CUevent events;
	uint32_t peers;  /* devices whose memory may be accessed */
	size_t heap;     /* limit of what kernels allocate */
	int loading;     /* modules, so that nobody launches */
	uintptr_t chunk; /* of its own: what it keeps on the device */
};

CUcontext context_current(void);
bool context_known(CUcontext ctx);
bool context_ok(CUcontext ctx);
CUresult context_of_green(CUdevice device, CUcontext *out);
void context_end_green(CUcontext ctx);
unsigned long thread_number(void);

#include "memory.h"
#include "work.h"

#endif
