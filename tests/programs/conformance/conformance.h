/*
 * The parts of the conformance program: each prints facts about the driver, one "topic: value" line a fact, and leaves
 * nothing behind that the next could stumble over. No address, no time, nothing that two runs on one machine could
 * disagree about.
 */
#pragma once

#include "testkit.h"

__attribute__((format(printf, 2, 3))) void fact(const char *value, const char *topic, ...);

/* The result of a call, without the CUDA_ in front of it. */
const char *code(CUresult r);
const char *yes_no(int yes);
/* A few numbers can be printed at a time. */
const char *number(long long n);

/* A kernel of this module runs on the null stream when this returns. */
void keep_busy(CUmodule module, int ms);

/* One allocation of every kind. */
enum kind { DEVICE, DEVICE_LARGE, PITCHED, MANAGED, PINNED, REGISTERED, POOL, VMM, KINDS };

extern const char *const kind_names[KINDS];

struct memory {
	enum kind kind;
	CUdeviceptr at;
	size_t size; /* as the driver should report it */
	size_t pitch;
	CUmemGenericAllocationHandle handle;
	void *own; /* the program's memory, of REGISTERED */
};

struct memory memory_new(enum kind kind);
void memory_free(struct memory *m);

/* What VMM is made of: the two calls that take a description of the device. */
CUresult create_physical(CUmemGenericAllocationHandle *handle, size_t size, int rdma);
CUresult make_accessible(CUdeviceptr at, size_t size);

/* A reservation of three pieces, of which the middle one is mapped. */
struct mapped {
	CUdeviceptr base, at;
	size_t piece;
	CUmemGenericAllocationHandle handle;
};

struct mapped mapped_open(int rdma);

/* A batch of pieces that lie one behind the other, and one of a box. */
enum { PIECE = 256 };

CUresult copy_batch(CUdeviceptr to, CUdeviceptr from, size_t count, CUmemcpySrcAccessOrder order, CUstream s);
CUresult copy_box(CUdeviceptr to, CUdeviceptr from, CUstream s);

/* The parts, a file each. */
void procaddr_facts(void);
void stream_facts(void);
void event_facts(void);
void launch_facts(void);
void memory_facts(void);
void query_facts(void);
void mapped_facts(void);
void pool_facts(void);
void memop_facts(void);
void contextless_facts(void);
void wait_facts(void);
void capture_facts(void);
void graph_facts(void);
void green_facts(void);
void process_facts(void);

/* The program is started once more for facts that end their process. */
int be_child(const char *name);
void child_green_alone(void);
void child_access_own(void);
void child_access_registered(void);
void child_access_freed(void);
void child_access_freed_large(void);
void child_access_before(void);
void child_access_peer(void);
void child_access_mapping(void);
void child_access_forked(void);
void child_access_trimmed(void);
void child_fill_trimmed(void);
void child_pool_destroyed(void);
void child_pool_exported(void);
