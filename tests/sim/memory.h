/* Addresses, and the memory behind them: what the files about it share. Only sim.h includes it. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

/* arena.c: address ranges. */

struct arena {
	uintptr_t base;
	size_t size, top, granule;
	int fd; /* what is mapped there, -1: private memory */
	struct hole *holes[256];
};

extern struct arena sim_device_arena, sim_host_arena;

bool arenas_create(void);
void arenas_seal(bool host_too);
uintptr_t arena_take(struct arena *arena, size_t bytes);
void arena_give(struct arena *arena, uintptr_t at, size_t bytes);
bool arena_open(struct arena *arena, uintptr_t at, size_t bytes);
void range_close(uintptr_t at, size_t length);
void arena_close(struct arena *arena, uintptr_t at, size_t bytes);

/* chunks.c: where device memory lies. */

bool chunks_create(void);
uintptr_t chunks_take(size_t bytes, bool from_top);
void chunks_give(uintptr_t at, size_t bytes);

/* access.c: what kernels may touch. */

bool access_create(void);
void access_open(uintptr_t at, size_t bytes, int device, bool alone);
void access_give(uintptr_t at, size_t bytes, int device, bool reads, bool writes);
void access_take(uintptr_t at, size_t bytes);
int access_protection(uintptr_t at);
void access_check(uintptr_t at, size_t bytes, int write);

/* slab.c: device memory below 2 MiB. */

struct slab;
struct slab *slab_alloc(CUcontext ctx, int device, size_t bytes, uintptr_t *at);
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
	CUmodule module; /* of a BLOCK_GLOBAL */
	struct block *next, *prev;
};

struct block *block_find(uintptr_t address);
bool block_is_of_no_context(uintptr_t address); /* mapped, or of a pool */
struct block *block_overlap(uintptr_t base, size_t size);
struct block *block_first(void);
void block_insert(struct block *block);
struct block *block_new(enum block_kind kind, CUcontext ctx, uintptr_t base, size_t size);
void block_remove(struct block *block);
bool block_range_ok(uintptr_t address, size_t bytes, bool *known);
bool block_is_host(const struct block *block);

/* memory.c */

CUresult device_alloc(CUcontext ctx, size_t bytes, struct block **out);
CUresult graph_reserve(CUcontext ctx, int device, size_t bytes, CUdeviceptr *out);
CUresult graph_map(uintptr_t at);
bool device_charge(int device, size_t bytes);
void device_uncharge(int device, size_t bytes);
void block_release(struct block *block);
void blocks_release_of(CUcontext ctx);
CUresult block_wait_and_release(struct block *block);

/* pool.c */

struct CUmemPoolHandle_st {
	CUmemoryPool next;
	CUdevice device;
	bool destroyed;
	unsigned exports; /* as which types of handles */
	size_t limit;     /* bytes it may reserve; 0: all there are */
	cuuint64_t attribute[CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1];
	uint32_t readers, writers; /* a bit a device */
	struct segment *segments;
};

void pools_trim(void);
CUresult pools_trim_after(CUresult waited);
void pools_trim_all_of(CUdevice device);
long pools_made(void);

/* pool_memory.c */

struct op;
uintptr_t pool_take(CUmemoryPool pool, CUstream stream, size_t bytes);
void pool_give(CUmemoryPool pool, uintptr_t at, struct op *after);
void pool_trim(CUmemoryPool pool, size_t keep);
void pool_let_in(CUmemoryPool pool);

/* managed.c */

struct span { /* pages of one managed allocation */
	struct block *block;
	size_t first, end;
};

CUresult span_of(CUdeviceptr at, size_t bytes, struct span *out);
struct page *pages_of(struct block *block);
uint32_t place_bit(int where); /* in accessed_by */
void pages_forget(struct block *block);

/* vmm.c */

void physical_unmap(struct block *block);
bool mapping_has_rdma(const struct block *block);
bool reservation_around(uintptr_t at, uintptr_t *base, size_t *size);

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

#endif
