/*
 * The simulated driver: a libcuda.so.1 over host memory, so that GMOD can run, be tested and be shown where
 * there is no GPU. A test double: what it promises is native error codes, rounding, attributes, ordering and
 * waiting, as tests/programs/conformance.c prints them. No performance figure may ever come from it.
 *
 * How it works
 *
 *	Every entry point opens with ENTER(), which takes the one lock and says whether the call is refused
 *	(not initialised, no context, sticky error, injected fault), and ends with sim_leave(), which traces
 *	and unlocks. The lock is given up while a call waits and is never held while a kernel, a copy or a
 *	host function runs, so bodies need no locking of their own.
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
 *	call inject init error procaddr abi32	entry: prologue, faults and traces, cuInit and exit, names
 *	device context context_query green	what a call runs in
 *	arena slab block memory host managed	addresses, and the memory behind them
 *	pool vmm ipc array pointer		... of more kinds, and what is known of an address
 *	work queue stream event fault		what runs, in which order, and what happens when it faults
 *	copy* memset launch module library function	what work is made from
 *	capture capture_query graph*		work that is kept for later
 *
 * Not simulated: textures and surfaces, external memory, events between processes, conditional and event
 * nodes, what green contexts are for, changes to the edges of a graph, dma-buf, the runtime's private tables.
 *
 * Environment, read once when the library is loaded
 *
 *	SIM_DEVICES=1			how many devices
 *	SIM_MEMORY=1073741824		bytes of memory of each
 *	SIM_CONCURRENT_MANAGED=1	0: the devices lack concurrentManagedAccess
 *	SIM_FAIL=NAME:N[:CODE][,...]	the Nth call (from 1; *: every one) of the exported symbol NAME fails with
 *					CODE and does nothing; without CODE, 2 for allocations and else 999
 *	SIM_SIGNAL=NAME:N[,...]		SIGALRM comes in the midst of such a call, while it holds the driver's lock
 *	SIM_STALL=NAME:N:MS[,...]	such a call takes MS milliseconds before it does anything
 *	SIM_TRACE=path			append a line a call: symbol, result, basename of the calling module
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
#pragma GCC visibility pop

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../programs/kernels.h"

#define SIM_MAX_DEVICES 16
#define SIM_DRIVER_VERSION 13000

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
	MAGIC_POOL,
	MAGIC_ARRAY,
};

/* call.c: the prologue and the epilogue of every entry point. */

enum need {
	NEEDS_NOTHING = 0,
	NEEDS_INIT = 1,
	NEEDS_CONTEXT = 2,     /* a current context without a sticky error */
	UNSAFE_IN_CAPTURE = 4, /* one of the calls that a capture forbids */
};

struct call {
	const char *symbol;
	const void *caller;
	CUcontext ctx;    /* the current context, for NEEDS_CONTEXT */
	CUresult refused; /* not CUDA_SUCCESS: the body must not run */
};

#define ENTER(symbol, needs) sim_enter(#symbol, needs, __builtin_return_address(0))

struct call sim_enter(const char *symbol, unsigned needs, const void *caller);
CUresult sim_leave(const struct call *call, CUresult result);
void sim_lock(void);
void sim_unlock(void);
pthread_mutex_t *sim_the_lock(void); /* to wait on a condition with */

/* inject.c: SIM_FAIL, SIM_SIGNAL, SIM_STALL and SIM_TRACE. */

extern bool sim_watched; /* one of them is set */
CUresult inject_failure(const char *symbol);
void inject_stall(const char *symbol);
void inject_signal(const char *symbol);
void trace_call(const struct call *call, CUresult result);

/* init.c */

struct device {
	struct CUctx_st *primary;
	struct CUmemPoolHandle_st *default_pool, *pool;
	size_t used;     /* bytes of native memory given out */
	size_t resident; /* bytes of managed memory prefetched here; may be evicted */
	struct slab *slabs;
};

struct sim {
	enum { SIM_NEW, SIM_READY, SIM_TORN_DOWN } state;
	int devices;
	size_t memory, page;
	bool concurrent_managed;
	unsigned long long last_id; /* contexts, streams, captures and buffers are numbered */
	struct device device[SIM_MAX_DEVICES];
	struct CUctx_st *contexts;
	pthread_cond_t done; /* broadcast whenever an op is done */
};

extern struct sim sim;
extern bool sim_forked; /* this is a child of an initialised process */

bool device_exists(CUdevice device);
size_t device_free_memory(CUdevice device);

/* fault.c: what a kernel that touches unmapped memory ends in. */

void fault_install(void);
CUresult fault_guard(void (*run)(void *), void *arg);

/* arena.c: address ranges. */

struct arena {
	uintptr_t base;
	size_t size, top, granule;
	int fd; /* what is mapped there, -1: private memory */
	struct hole *holes[256];
};

extern struct arena sim_device_arena, sim_host_arena;

bool arenas_create(void);
void arenas_seal(void);
uintptr_t arena_take(struct arena *arena, size_t bytes);
void arena_give(struct arena *arena, uintptr_t at, size_t bytes);
bool arena_open(struct arena *arena, uintptr_t at, size_t bytes);
void range_close(uintptr_t at, size_t length);
void arena_close(struct arena *arena, uintptr_t at, size_t bytes);

/* slab.c: device memory below 2 MiB. */

struct slab;
struct slab *slab_alloc(CUcontext ctx, CUmemoryPool pool, int device, size_t bytes, uintptr_t *at);
void slab_free(struct slab *slab, uintptr_t at, size_t bytes);

/* block.c: everything that has an address. */

enum block_kind {
	BLOCK_DEVICE,
	BLOCK_MANAGED,
	BLOCK_HOST,
	BLOCK_REGISTERED,
	BLOCK_POOL,
	BLOCK_GRAPH, /* of a graph's allocation node */
	BLOCK_VMM,
	BLOCK_IPC,
	BLOCK_GLOBAL, /* a module's variable */
};

enum location { NOWHERE = -2, ON_HOST = -1 /* else a device */ };

struct page { /* of managed memory */
	int8_t preferred, prefetched, resident;
	bool read_mostly;
	uint32_t accessed_by; /* a bit a device; the host is the last */
};

struct block {
	uintptr_t base; /* as the program sees it */
	size_t size;
	enum block_kind kind;
	CUcontext ctx;
	int device;
	unsigned flags; /* of cuMemHostAlloc, cuMemAllocManaged */
	unsigned long long id;
	bool sync_memops;
	bool freeing;      /* somebody is freeing it and waits */
	size_t charged;    /* bytes of the device's memory */
	struct slab *slab; /* below 2 MiB */
	CUmemoryPool pool;
	struct page *pages;
	struct physical *physical;
	CUmemAccess_flags access; /* of a BLOCK_VMM */
	CUmodule module;          /* of a BLOCK_GLOBAL */
	struct block *next, *prev;
};

struct block *block_find(uintptr_t address);
struct block *block_first(void);
void block_insert(struct block *block);
struct block *block_new(enum block_kind kind, CUcontext ctx, uintptr_t base, size_t size);
void block_remove(struct block *block);
bool block_range_ok(uintptr_t address, size_t bytes, bool *known);
bool block_is_host(const struct block *block);

/* memory.c */

CUresult device_alloc(CUcontext ctx, int device, CUmemoryPool pool, size_t bytes, struct block **out);
CUresult graph_reserve(CUcontext ctx, int device, size_t bytes, CUdeviceptr *out);
CUresult graph_map(uintptr_t at);
bool device_charge(int device, size_t bytes);
void device_uncharge(int device, size_t bytes);
void block_release(struct block *block);
void blocks_release_of(CUcontext ctx);
CUresult block_wait_and_release(struct block *block);

/* managed.c */

void pages_forget(struct block *block);

/* vmm.c */

void physical_unmap(struct block *block);

/* ipc.c */

void ipc_unmap(struct block *block);

/* array.c */

struct CUarray_st {
	enum magic magic;
	CUarray next;
	CUcontext ctx;
	CUDA_ARRAY3D_DESCRIPTOR desc;
	struct block *block;
	size_t row, slice; /* bytes */
	unsigned element;
};

bool array_ok(CUarray array);
void arrays_release_of(CUcontext ctx);

/* work.c: a piece of work, on a stream or in a graph. */

enum work_kind { WORK_NONE, WORK_KERNEL, WORK_COPY, WORK_SET, WORK_HOST, WORK_GRAPH, WORK_ALLOC, WORK_FREE };

#define SIM_SLOT 64 /* bytes of the largest parameter */

struct work_kernel {
	const struct gt_kernel *code;
	CUfunction function; /* as it was passed: may be a CUkernel */
	unsigned grid[3], block[3], shared;
	unsigned char args[GT_MAX_PARAMS][SIM_SLOT] __attribute__((aligned(16)));
	void *pointers[GT_MAX_PARAMS]; /* into args, see kernel_point() */
};

struct work_copy {
	uintptr_t dst, src;
	size_t dst_pitch, src_pitch, dst_slice, src_slice;
	size_t width, height, depth;
	void *staged; /* a copy of pageable source bytes, owned */
};

struct work_set {
	uintptr_t dst;
	size_t pitch, width, height; /* width in elements */
	unsigned element, value;
};

struct work_graph {
	struct work *list;
	size_t count;
};

struct work {
	enum work_kind kind;
	union {
		struct work_kernel kernel;
		struct work_copy copy;
		struct work_set set;
		struct {
			CUhostFn fn;
			void *data;
		} host;
		struct work_graph graph;
		uintptr_t memory; /* to allocate or free */
	};
};

CUresult work_run(struct work *work);
void kernel_point(struct work_kernel *kernel);
CUresult work_clone(struct work *to, const struct work *from);
void work_clear(struct work *work);
extern __thread bool sim_in_host_function;

/* queue.c: ops, workers, waiting. */

struct op {
	int refs;
	bool done;
	long long done_ns;
	CUstream stream;
	struct work work;
	struct op **deps;
	size_t dep_count;
	struct op *next;
};

struct CUstream_st {
	enum magic magic;
	CUstream next;
	CUcontext ctx;
	unsigned flags;
	int priority;
	unsigned long long id;
	unsigned long thread; /* of a per-thread default stream */
	bool destroyed, working;
	struct op *first, *last; /* queued; last stays referenced when it is done */
	pthread_cond_t wake;
	struct capture *capture;
	CUgraphNode *tips; /* what the next captured node depends on */
	size_t tip_count;
};

CUresult queue_submit(CUstream stream, struct work *work, struct op *const *deps, size_t dep_count, struct op **out);
CUresult queue_wait_op(CUcontext ctx, struct op *op);
CUresult queue_wait_stream(CUstream stream);
CUresult queue_wait_context(CUcontext ctx);
bool queue_idle(CUstream stream);
struct op *op_hold(struct op *op);
void op_drop(struct op *op);
void stream_free(CUstream stream);
CUresult queue_after_everything(CUcontext ctx, struct work *work, struct op **out);

/* stream.c */

CUstream stream_of(CUcontext ctx, CUstream handle, bool per_thread);
CUstream stream_new(CUcontext ctx, unsigned flags, int priority);
void streams_release_of(CUcontext ctx);
bool stream_is_legacy(CUstream stream);
CUresult stream_do(CUcontext ctx, CUstream handle, bool per_thread, struct work *work);
CUresult stream_do_and_wait(CUcontext ctx, CUstream handle, bool per_thread, struct work *work);

/* context.c */

struct CUctx_st {
	enum magic magic;
	CUcontext next;
	CUdevice device;
	bool primary, alive;
	unsigned flags, refs; /* refs: retains of a primary context, or who is attached to another */
	CUcontext owner;      /* of a green context: the primary one, whose its memory is */
	unsigned api_version;
	unsigned long long id;
	CUresult sticky;
	CUstream legacy, streams;
	CUmodule modules;
	CUarray arrays;
	uint32_t peers; /* devices whose memory may be accessed */
	size_t limit[CU_LIMIT_MAX];
};

CUcontext context_current(void);
bool context_ok(CUcontext ctx);
CUresult context_of_green(CUdevice device, CUcontext *out);
void context_end_green(CUcontext ctx);
unsigned long thread_number(void);

/* event.c */

struct CUevent_st {
	enum magic magic;
	CUcontext ctx;
	unsigned flags;
	struct op *op;                 /* NULL: never recorded */
	unsigned long long capture_id; /* not 0: last recorded in that capture */
	CUgraphNode *nodes;
	size_t node_count;
};

bool event_ok(CUevent event);

/* capture.c */

struct capture {
	struct capture *next;
	unsigned long long id;
	CUgraph graph;
	bool borrowed_graph; /* cuStreamBeginCaptureToGraph */
	CUstream origin;
	CUstreamCaptureMode mode;
	unsigned long thread;
	bool invalid;
	size_t first_node;
};

CUresult capture_check_unsafe(void);
bool capture_blocks_legacy(CUstream stream);
CUresult capture_check_legacy(CUstream stream);
void capture_invalidate(unsigned long long id);
void capture_invalidate_context(CUcontext ctx);
bool capture_in_context(CUcontext ctx);
CUresult capture_refuse(CUstream stream);
CUresult capture_append(CUstream stream, struct work *work, CUgraphNode *out);
CUresult capture_record(CUstream stream, CUevent event);
CUresult capture_wait(CUstream stream, CUevent event);
void capture_drop_stream(CUstream stream);

/* graph.c */

struct CUgraphNode_st {
	enum magic magic;
	CUgraphNodeType type;
	CUgraph graph, child;
	CUgraphNode origin; /* in a clone: the node this was made from */
	struct work work;
	CUgraphNode *deps;
	size_t dep_count;
};

struct CUgraph_st {
	enum magic magic;
	CUgraphNode *nodes; /* in order of creation, which is a topological order */
	size_t count;
	bool owned; /* a child graph: its node destroys it */
};

CUgraph graph_new(void);
void graph_free(CUgraph graph);
CUgraph graph_clone(CUgraph graph);
CUgraphNode graph_add(CUgraph graph, CUgraphNodeType type, struct work *work, const CUgraphNode *deps, size_t count);
CUresult graph_flatten(CUgraph graph, struct work *out);
bool graph_ok(CUgraph graph);
bool graph_has_memory(CUgraph graph);
bool node_ok(CUgraphNode node);

/* graph_exec.c */

CUgraphNode exec_node(CUgraphExec exec, CUgraphNode origin);

/* launch.c */

CUresult kernel_work(CUcontext ctx, CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
		     void **params, void **extra, struct work *out);

/* copy.c */

struct operand {           /* one side of a copy */
	CUmemorytype type; /* what the caller says it is */
	uintptr_t at;
	size_t pitch, slice; /* bytes between rows and between planes */
	bool host, pageable; /* what it turns out to be */
};

/* On which stream, and whether the call waits as the synchronous ones do. */
struct target {
	CUcontext ctx;
	CUstream stream;
	bool per_thread, synchronous;
};

CUresult copy_check(struct operand *dst, struct operand *src, size_t width, size_t height, size_t depth,
		    struct work *out);
CUresult copy_submit(const struct target *to, struct operand *dst, struct operand *src, size_t width, size_t height,
		     size_t depth);
CUresult copy_linear(const struct target *to, struct operand dst, struct operand src, size_t bytes);
CUresult sync_allowed(CUcontext ctx, bool per_thread);
CUresult array_operand(CUarray array, size_t x, size_t y, size_t z, struct operand *out);
CUresult copy_work_3d(const CUDA_MEMCPY3D *p, struct work *out);

/* memset.c */

CUresult set_work(CUdeviceptr dst, size_t pitch, unsigned element, unsigned value, size_t width, size_t height,
		  struct work *out);

/* module.c */

struct image {
	void *handle; /* of dlopen */
	const struct gt_kernel *const *kernels;
	size_t count;
};

struct CUfunc_st {
	enum magic magic; /* MAGIC_FUNCTION, or MAGIC_KERNEL for a CUkernel that was cast */
	const struct gt_kernel *code;
	CUmodule module;
};

struct CUmod_st {
	enum magic magic;
	CUmodule next;
	CUcontext ctx;
	struct image image;
	struct CUfunc_st *functions; /* as many as the image has */
	CUlibrary library;           /* whose module it is, or NULL */
};

CUresult image_open(const char *path, struct image *out);
CUresult image_open_data(const void *data, struct image *out);
void image_close(struct image *image);
const struct gt_kernel *image_find(const struct image *image, const char *name);
CUresult module_new(CUcontext ctx, const struct image *image, CUlibrary library, CUmodule *out);
void module_free(CUmodule module);
void modules_release_of(CUcontext ctx);
CUfunction module_function(CUmodule module, const struct gt_kernel *code);
void library_forget_module(CUlibrary library, CUmodule module);

/* library.c */

struct CUkern_st {
	enum magic magic; /* at the same place as in struct CUfunc_st */
	const struct gt_kernel *code;
	CUlibrary library;
};

const struct gt_kernel *code_of(CUfunction f);

/* function.c */

size_t param_offset(const struct gt_kernel *code, unsigned i);

/* pool.c */

struct CUmemPoolHandle_st {
	enum magic magic;
	int device;
	cuuint64_t release_threshold, used, used_high;
	int reuse[3];
};

CUmemoryPool pool_new(int device);

#endif
