/* What runs: work, the streams it is queued on, what it is made from, and graphs of it. Only sim.h includes it. */
#ifndef SIM_WORK_H
#define SIM_WORK_H

/* work.c: a piece of work, on a stream or in a graph. */

enum work_kind {
	WORK_NONE,
	WORK_KERNEL,
	WORK_COPY,
	WORK_SET,
	WORK_HOST,
	WORK_GRAPH,
	WORK_ALLOC,
	WORK_FREE,
	WORK_MEMOPS
};

#define SIM_SLOT 64 /* bytes of a parameter; a larger one has memory of its own */

struct work_kernel {
	CUcontext ctx;
	const struct gt_kernel *code;
	CUfunction function; /* as it was passed: may be a CUkernel */
	unsigned grid[3], block[3], shared;
	CUkernelNodeAttrValue cluster; /* as it was set for a node; nothing runs otherwise for it */
	int tid;                       /* of the thread that launches it */
	unsigned char args[GT_MAX_PARAMS][SIM_SLOT] __attribute__((aligned(16)));
	void *large[GT_MAX_PARAMS];    /* owned; those of more than SIM_SLOT bytes */
	void *pointers[GT_MAX_PARAMS]; /* into args or large, see kernel_point() */
};

struct work_copy {
	uintptr_t dst, src;
	size_t dst_pitch, src_pitch, dst_slice, src_slice;
	size_t width, height, depth;
	void *staged; /* a copy of pageable source bytes, owned */
	bool sent;    /* from the host to the device */
};

struct work_set {
	uintptr_t dst;
	size_t pitch, width, height; /* width in elements */
	unsigned element, value;
};

struct work_memops {
	CUcontext ctx;
	CUstreamBatchMemOpParams *list; /* owned */
	size_t count;
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
			CUhostFn fn; /* NULL: the callback */
			CUstreamCallback callback;
			CUstream stream; /* the callback's, as it was given */
			void *data;
		} host;
		struct work_graph graph;
		uintptr_t memory; /* to allocate or free */
		struct work_memops memops;
	};
};

CUresult work_run(CUcontext ctx, struct work *work);
void kernel_point(struct work_kernel *kernel);
CUresult work_clone(struct work *to, const struct work *from);
void work_clear(struct work *work);
extern __thread bool sim_in_host_function;

/* access.c */

void access_begin(const struct work_kernel *kernel, const void *top);

/* memops.c */

void run_memops(void *arg);

/* queue.c: ops, workers, waiting. */

struct op {
	int refs;
	bool started, done;
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
	bool running_at_once; /* its first op, by who gave it */
	int priority;
	unsigned long thread; /* of a per-thread default stream */
	bool destroyed, working;
	struct op *first, *last; /* queued; last stays referenced when it is done */
	pthread_cond_t wake;
	struct capture *capture;
	CUgraphNode *tips; /* what the next captured node depends on */
	size_t tip_count;
};

bool queue_start_thread(void *(*body)(void *), void *arg);
void queue_break_all(CUdevice device, CUresult error);
CUresult queue_submit(CUstream stream, struct work *work, struct op *const *deps, size_t dep_count, struct op **out);
CUresult queue_wait_op(CUcontext ctx, struct op *op);
CUresult queue_wait_stream(CUstream stream);
CUresult queue_wait_context(CUcontext ctx);
void queue_wait_library(CUlibrary library);
bool queue_idle(CUstream stream);
struct op *op_hold(struct op *op);
void op_drop(struct op *op);
bool queue_is_behind(const struct op *op, const struct op *other);
void stream_free(CUstream stream);
CUresult queue_after_everything(CUcontext ctx, struct work *work, struct op **out);

/* stream.c */

CUstream stream_of(CUcontext ctx, CUstream handle, bool per_thread);
CUresult stream_of_call(struct call *call, CUstream handle);
CUstream stream_new(CUcontext ctx, unsigned flags, int priority);
void streams_release_of(CUcontext ctx);
bool stream_is_legacy(CUstream stream);
CUresult stream_do(CUcontext ctx, CUstream handle, bool per_thread, struct work *work);
CUresult stream_check_default(CUcontext ctx, bool per_thread);
CUresult stream_do_and_wait(CUcontext ctx, CUstream handle, bool per_thread, struct work *work);

/* event.c */

struct CUevent_st {
	enum magic magic;
	CUevent next; /* of its context's */
	CUcontext ctx;
	unsigned flags;
	bool lost;                     /* its context has ended since */
	struct op *op;                 /* NULL: never recorded */
	unsigned long long capture_id; /* not 0: last recorded in that capture */
	CUgraphNode *nodes;
	size_t node_count;
};

/* capture.c */

struct capture {
	struct capture *next;
	unsigned long long id;
	CUgraph graph;
	CUstream origin;
	CUstreamCaptureMode mode;
	unsigned long thread;
	bool invalid;
	bool borrowed; /* the graph is the program's, whatever becomes of the capture */
};

CUresult capture_check_unsafe(void);
CUresult capture_check_legacy(CUstream stream);
CUresult capture_refuse_event(CUevent event);
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
bool nodes_are_of(CUgraph graph, const CUgraphNode *nodes, size_t count);
CUgraphNode graph_add(CUgraph graph, CUgraphNodeType type, struct work *work, const CUgraphNode *deps, size_t count);
CUresult graph_flatten(CUgraph graph, struct work *out);
bool graph_ok(CUgraph graph);
bool graph_has_memory(CUgraph graph);
bool node_ok(CUgraphNode node);

/* graph_exec.c */

CUgraphNode exec_node(CUgraphExec exec, CUgraphNode origin);
CUresult exec_set_child(CUgraphNode node, CUgraph child);
CUgraph exec_graph(CUgraphExec exec); /* NULL: it is none */

/* launch.c */

CUresult kernel_work(CUcontext ctx, CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
		     void **params, void **extra, struct work *out);

size_t kernel_blocks(const unsigned grid[3]);
size_t kernel_places(const unsigned block[3]);

/* copy.c */

struct operand {           /* one side of a copy */
	CUmemorytype type; /* what the caller says it is */
	uintptr_t at;
	size_t pitch, slice;             /* bytes between rows and between planes */
	bool host, pageable, waited_for; /* what it turns out to be */
};

/* On which stream, and whether the call waits as the synchronous ones do. */
struct target {
	CUcontext ctx;
	CUstream stream;
	bool per_thread, synchronous;
};

struct target waiting(const struct call *call);
struct target queued(const struct call *call, CUstream stream);
CUresult copy_check(struct operand *dst, struct operand *src, size_t width, size_t height, size_t depth,
		    struct work *out);
CUresult copy_submit(struct target to, struct operand *dst, struct operand *src, size_t width, size_t height,
		     size_t depth);
CUresult copy_linear(struct target to, struct operand dst, struct operand src, size_t bytes);
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
CUresult image_read(const void *data, struct image *out);
/* patrol.c: the one image that is PTX. */
bool patrol_is(const void *data);
struct image patrol_image(void);
void image_close(struct image *image);
const struct gt_kernel *image_find(const struct image *image, const char *name);
/* The device has nothing to do when it returns. */
CUresult wait_to_load(CUcontext ctx);
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
bool event_ok(CUevent event);
CUresult event_new(CUcontext ctx, CUevent *out, unsigned flags);
void events_release_of(CUcontext ctx);
void events_lose(CUcontext ctx);
bool library_has(CUlibrary library, CUfunction f);
CUresult kernel_function(CUcontext ctx, CUfunction *out, CUkernel kernel);

/* function.c */

size_t param_offset(const struct gt_kernel *code, unsigned i);

#endif
