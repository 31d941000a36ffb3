/*
 * The device heap as it lies in memory: shared between the host library, which makes it, and the kernels, which use it.
 * One heap per context.
 *
 *     constant memory of each unit: where the heap is, its key, its limits        (struct gmod_device_heap)
 *     device memory:                state │ chunk table │ sets │ ... │ chunks (64 KiB each, 64 KiB aligned)
 *
 *     mallocN ─► slab: a block of its class out of a chunk, or a run of chunks    (device_slab.h)
 *             ─► buffer: canaries around the user's bytes                         (device_buffer.h)
 *             ─► entry: what buffer is in the block, in a table in front of them  (device_entry.h)
 *     freeN   ─► entry: LIVE to BUSY; buffer: verify; entry: DEAD, or FREED if it is kept back; slab: give back
 *     guard   ─► entries of all chunks ─► buffer: verify, or ring: a finding      (device_guard.h, device_ring.h)
 *
 * Kernels follow no pointer that lies where a kernel can write. What they follow lies in constant memory; all that is
 * read from device memory is a number, which is used only as far as it can be true. So a program that scribbles over
 * the heap loses buffers and findings, and nothing of ours reads or writes elsewhere.
 *
 * Layout and meaning belong to GMOD_DEVICE_LAYOUT, which is in the name of the guard kernel: libgmod does not find a
 * module that was compiled with another one and says so; its kernels use CUDA's own heap.
 *
 * A heap has all of its memory from the start, as CUDA's own has. To map more while kernels run takes a driver that is
 * not inside cudaFree or a first launch, which wait for these very kernels (measured on driver 580).
 */
#ifndef GMOD_DEVICE_HEAP_H
#define GMOD_DEVICE_HEAP_H

#include "device_port.h"

#define GMOD_DEVICE_LAYOUT 7 /* in the name of the guard kernel */

enum {
	GMOD_CHUNK_BITS = 16, /* of its size in bytes */
	GMOD_CHUNK_SIZE = 1 << GMOD_CHUNK_BITS,
	GMOD_CHUNKS_BITS = 24, /* of the number of chunks: a TiB */
	GMOD_ENTRY_SIZE = 16,
	GMOD_BLOCK_MIN = 32,      /* head and tail of a buffer leave 8 bytes of it */
	GMOD_BLOCK_MAX = 7 << 12, /* two of them, with their entries, in a chunk */
	GMOD_CHUNK_WORDS = (GMOD_CHUNK_SIZE / (GMOD_BLOCK_MIN + GMOD_ENTRY_SIZE) + 31) / 32,
	GMOD_CLASSES = 38,            /* see gmod_class_of() */
	GMOD_CLASS_RUN = 38,          /* one block in as many chunks as it takes */
	GMOD_SET_FREE = GMOD_CLASSES, /* the set of chunks that nobody has, behind those of the classes */
	GMOD_SETS,
	GMOD_SLOTS = 32,       /* places that remember a chunk of each class, picked by multiprocessor */
	GMOD_GUARDS_MAX = 256, /* shares of the chunks, each for a warp of the guard */
};

/* Of a buffer; device_buffer.h. */
enum {
	GMOD_HEAD_SIZE = 16,
	GMOD_TAIL_MIN = 8,
	GMOD_TAIL_MAX = 256,
	GMOD_FILL_MAX = 256,
	GMOD_ALIGN_MAX = 1 << 15,
	GMOD_SIZE_BITS = 36,
};

#define GMOD_SIZE_LIMIT (1ull << GMOD_SIZE_BITS)

/*
 * A chunk's control word: free blocks in the high half, as a signed number; kind, class and generation in the low
 * half. Adding to the number never disturbs the low half. See device_slab.h for who may do what.
 */
enum gmod_chunk_kind { GMOD_CHUNK_NEW, GMOD_CHUNK_FREE, GMOD_CHUNK_SLAB, GMOD_CHUNK_LARGE };

struct gmod_chunk {
	gmod_u64 control;
	gmod_u32 free_blocks[(GMOD_CHUNK_WORDS + 1) / 2 * 2];
};

/* What a warp of the guard saw in its share of the chunks at its latest look. */
struct gmod_share {
	gmod_u64 live, live_bytes, waiting; /* buffers that are not freed, and those that were and are kept back */
};

/* What a kernel's thread is called in entries and findings: its block << 10 | its number in it. */
#define GMOD_WHO_UNKNOWN ((1ull << 40) - 1)

/* What freeN found, or the guard, or thought that it had; device_ring.h. */
enum gmod_device_class { GMOD_DEVICE_VOID, GMOD_DEVICE_CORRUPT, GMOD_DEVICE_DOUBLE_FREE, GMOD_DEVICE_INVALID_FREE };

/* Words of a buffer that come along: of its head, its tail and its fill, where the words begin and end at 8 bytes. */
enum { GMOD_FINDING_WORDS = GMOD_HEAD_SIZE / 8 + GMOD_TAIL_MAX / 8 + 1 + GMOD_FILL_MAX / 8 };

struct gmod_device_finding {
	gmod_u64 sequence; /* 1 for the first; written last */
	gmod_u64 seal;     /* over all that follows: a kernel that scribbles over the ring does not make findings */
	gmod_u64 class_;
	gmod_u64 caller; /* who called freeN */
	gmod_u64 user;
	gmod_u64 word;  /* of its entry: size and state */
	gmod_u64 end;   /* of the buffer's tail */
	gmod_u64 owner; /* its entry's `who` */
	gmod_u64 words[GMOD_FINDING_WORDS];
};

enum { GMOD_RING_SLOTS = 256 };

/* In pinned host memory, written by the GPU. The host believes nothing it reads here. */
struct gmod_device_ring {
	gmod_u64 taken; /* findings that the host has read; written by the host only */
	gmod_u64 padding[15];
	gmod_u64 said; /* findings put here so far, more or less: when to look */
	gmod_u64 padding_[15];
	struct gmod_device_finding slot[GMOD_RING_SLOTS];
};

/* Threads in a block of the guard. */
enum { GMOD_GUARD_THREADS = 128 };

/* What changes. */
struct gmod_heap_state {
	gmod_u32 used, peak; /* chunks that are not free; the most there have been */
	gmod_u32 pass;
	gmod_u32 pressing; /* `pass` + 1 when memory was short: what is kept back is given back at the next pass */
	gmod_u64 held;     /* bytes of buffers that are kept back */
	gmod_u64 findings, findings_lost;    /* said so far; those for which the ring had no room */
	gmod_u64 damaged;                    /* entries that a kernel has overwritten */
	gmod_u64 failed;                     /* allocations that got nothing */
	gmod_u64 freed[GMOD_SLOTS];          /* buffers given back, by multiprocessor */
	gmod_u64 live, live_bytes;           /* buffers, by the latest look at each share */
	gmod_u64 live_peak, live_bytes_peak; /* the most of them that looks have seen */
	struct gmod_share share[GMOD_GUARDS_MAX];
	gmod_u32 hint[GMOD_CLASSES * GMOD_SLOTS];    /* a chunk's number + 1; by class * GMOD_SLOTS + slot */
	gmod_u32 growing[GMOD_CLASSES * GMOD_SLOTS]; /* 1 while somebody gets a chunk for this place */
};

/* Blocks of a class: gmod_class_of(), gmod_class_shape(). */
struct gmod_shape {
	gmod_u32 size;   /* bytes; of GMOD_CLASS_RUN 0 */
	gmod_u32 blocks; /* in a chunk, each with an entry */
};

/* What does not. All zeros: there is no heap here. */
struct gmod_device_heap {
	gmod_u64 key[2];
	gmod_u64 base;    /* of the chunks */
	gmod_u64 largest; /* bytes of the largest block that there can be */
	gmod_u32 chunks;
	gmod_u32 set_words, set_marks; /* of a set; device_set.h */
	gmod_u32 guards;
	gmod_u32 slots; /* a power of two */
	gmod_u32 delay; /* guard passes between a free and the release of the memory */
	struct gmod_heap_state *state;
	struct gmod_chunk *chunk;
	gmod_u32 *sets;
	struct gmod_device_ring *ring;
	struct gmod_shape shape[GMOD_CLASSES + 1];
};

/*
 * Filled in by libgmod, which finds it by this name, before the first launch after the module was loaded. On a CPU
 * whoever includes this defines it.
 */
#if defined(__CUDACC__)

/* Units that are linked share it. NVRTC has no way to say so before C++17. */
#if defined(__CUDACC_RDC__) && (!defined(__CUDACC_RTC__) || __cplusplus >= 201703L)
#define GMOD_UNIT_VARIABLE inline
#else
#define GMOD_UNIT_VARIABLE
#endif

/* nvcc knows inline variables before C++17, too, and warns. */
#pragma nv_diagnostic push
#pragma nv_diag_suppress 3033, 161 /* NVRTC knows none of GCC's pragmas */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wc++17-extensions"
extern "C" {
GMOD_UNIT_VARIABLE __constant__ struct gmod_device_heap gmod_unit_heap;
}
#pragma GCC diagnostic pop
#pragma nv_diagnostic pop

#else
extern struct gmod_device_heap gmod_unit_heap;
#endif

#endif
