/*
 * The device heap as it lies in memory: shared between the host library, which makes it, and the kernels, which use it.
 * One heap per context.
 *
 *     header │ findings control │ chunk table │ sets │ arrays │ ... │ chunks (64 KiB each, 64 KiB aligned)
 *
 *     mallocN ─► slab: a block of its class out of a chunk, or a run of chunks    (device_slab.h)
 *             ─► buffer: canaries and sealed size around the user's bytes         (device_buffer.h)
 *             ─► array: an entry that tells the guard where the buffer is         (device_array.h)
 *     freeN   ─► buffer: LIVE to FREED
 *     guard   ─► array ─► buffer: verify ─► slab: release, or ring: a finding     (device_guard.h, device_ring.h)
 *
 * Nothing here points anywhere but into the heap itself and the ring. Layout and meaning belong to GMOD_DEVICE_LAYOUT,
 * which is in the name of the guard kernel: libgmod does not find a module that was compiled with another one, and its
 * kernels use CUDA's own heap.
 *
 * Addresses are reserved for all chunks at first; memory comes as it is needed. Of the chunks, numbered from 0,
 *
 *     given <= committed <= limit:   those below `committed` have memory; those below `given` have been put into the
 *                                    set of free chunks; `limit` is as far as the host will go
 *
 * `memory` is written by the host, by copies that overtake kernels; a thread that is short of chunks moves `given` up.
 * Who sees that little is left says so in the ring (gmod_heap_ask), and the host commits more.
 */
#ifndef GMOD_DEVICE_HEAP_H
#define GMOD_DEVICE_HEAP_H

#include "device_port.h"

#define GMOD_DEVICE_LAYOUT 4 /* in the name of the guard kernel */

enum {
	GMOD_CHUNK_BITS = 16, /* of its size in bytes */
	GMOD_CHUNK_SIZE = 1 << GMOD_CHUNK_BITS,
	GMOD_BLOCK_MIN = 32, /* head and tail of a buffer leave 8 bytes of it */
	GMOD_BLOCK_MAX = GMOD_CHUNK_SIZE / 2,
	GMOD_CHUNK_WORDS = GMOD_CHUNK_SIZE / GMOD_BLOCK_MIN / 64,
	GMOD_CLASSES = 39,                 /* see gmod_class_of() */
	GMOD_CLASS_ENTRIES = GMOD_CLASSES, /* chunks with segments of byte arrays: no buffers */
	GMOD_SETS = GMOD_CLASSES + 1,
	GMOD_SLOTS = 32, /* places that remember a chunk of each class, picked by multiprocessor */
	GMOD_ARRAYS_MAX = 256,
	GMOD_SEGMENT_SIZE = 20 << 10, /* bytes of a byte array's segment; 20 KB, as in the paper's section 5.3 */
};

/* Of a buffer; device_buffer.h. */
enum {
	GMOD_HEAD_SIZE = 16,
	GMOD_TAIL_MIN = 8,
	GMOD_TAIL_MAX = 256,
	GMOD_FILL_MAX = 256,
	GMOD_META_SIZE_BITS = 40,
	GMOD_META_GENERATION_BITS = 20,
};

#define GMOD_SIZE_LIMIT (1ull << GMOD_META_SIZE_BITS)

/*
 * A chunk's control word: free blocks in the high half, as a signed number; kind, class and generation in the low
 * half. Adding to the number never disturbs the low half. See device_slab.h for who may do what.
 */
enum gmod_chunk_kind { GMOD_CHUNK_FREE, GMOD_CHUNK_SLAB, GMOD_CHUNK_LARGE };

struct gmod_chunk {
	gmod_u64 control;
	gmod_u64 run; /* chunks of a large allocation, in its first */
	gmod_u64 free_blocks[GMOD_CHUNK_WORDS];
};

/* Chunk numbers, as bits in two levels: a word's bit in `summary` may be set for nothing, and is found out. */
struct gmod_set {
	gmod_u64 *words, *summary;
};

/*
 * Entry of a byte array: where a buffer is, its header out of reach of the buffer's neighbours, and who allocated it.
 * 24 aligned bytes where the paper packs 9: an entry is published by one store that cannot be torn, its size and
 * generation need no trust in what an overflow may have hit, and a report can say which thread asked for the buffer.
 * See device_array.h for its life.
 */
struct gmod_entry {
	gmod_u64 word; /* 0: not published; else user address, flags in the low 4 bits, a guard pass in the high 16 */
	gmod_u64 meta; /* size and generation, see device_buffer.h */
	gmod_u64 who;  /* who allocated: block << 12 | thread in it */
};

struct gmod_segment {
	gmod_u64 next; /* address of the array's segment before this one, 0 for the first */
	gmod_u64 number;
	struct gmod_entry entry[(GMOD_SEGMENT_SIZE - 16) / 24];
};
enum { GMOD_SEGMENT_ENTRIES = (GMOD_SEGMENT_SIZE - 16) / 24 };

/* A byte array: one for each guard worker, a cache line of its own. */
struct gmod_array {
	gmod_u64 control;  /* high half: number of the current segment, 0: none; low half: entries reserved in it */
	gmod_u64 segments; /* address of the newest segment */
	gmod_u32 scanning; /* 1 while somebody scans */
	gmod_u32 growing;  /* 1 while somebody gets a segment */
	gmod_u64 live, live_bytes, waiting; /* at the last scan: buffers, and those freed and not yet released */
	gmod_u64 released, quarantined;     /* so far */
	gmod_u64 barren;                    /* gmod_heap_stirs() + 1: all that was freed by then has been looked at */
	gmod_u64 resume, stirs;             /* where the latest scan broke off, 0: nowhere; the same when it began */
	gmod_u64 padding[5];
};

#define GMOD_WHO_UNKNOWN (~0ull)

/* What the guard or freeN found; device_ring.h. */
enum gmod_device_class {
	GMOD_DEVICE_OVERFLOW = 1,
	GMOD_DEVICE_UNDERFLOW,
	GMOD_DEVICE_USE_AFTER_FREE,
	GMOD_DEVICE_DOUBLE_FREE,
	GMOD_DEVICE_INVALID_FREE,
};

enum { GMOD_WINDOW = 32 }; /* bytes of memory that come along with a finding */

struct gmod_device_finding {
	gmod_u64 sequence; /* 1 for the first; written last */
	gmod_u32 class_, array;
	gmod_u64 user, size;
	gmod_u64 first, last; /* changed bytes, as offsets from the user's first byte: signed */
	gmod_u64 caller;      /* who called freeN: block << 12 | thread in it */
	gmod_u64 owner;       /* who allocated the buffer; GMOD_WHO_UNKNOWN: not known */
	gmod_u64 generation;
	gmod_u64 window_at; /* offset of the window's first byte, signed */
	gmod_u64 observed[GMOD_WINDOW / 8], expected[GMOD_WINDOW / 8];
	gmod_u64 seal; /* over all before: a kernel that scribbles over the ring does not make findings */
};

enum { GMOD_RING_SLOTS = 256 };

/* In pinned host memory, written by the GPU. The host believes nothing it reads here. */
struct gmod_device_ring {
	gmod_u64 taken; /* findings that the host has read; written by the host only */
	gmod_u64 stop;  /* guard turns up to this one are to end; written by the host only */
	gmod_u64 padding[14];
	gmod_u64 said;   /* findings put here so far, more or less: when to look */
	gmod_u64 wanted; /* chunks the device would like to have memory for */
	gmod_u64 passes; /* rounds of resident guards so far */
	gmod_u64 padding_[13];
	struct gmod_device_finding slot[GMOD_RING_SLOTS];
};

enum gmod_heap_mode { GMOD_HEAP_SLAB, GMOD_HEAP_NATIVE };

/* Threads in the block of a resident guard. */
enum { GMOD_GUARD_THREADS = 512 };

struct gmod_device_heap {
	gmod_u64 key[2];
	gmod_u64 base, end;               /* of the chunks */
	gmod_u64 largest;                 /* bytes of the largest block that there can ever be */
	gmod_u64 native_low, native_high; /* in native mode: bounds of what CUDA's malloc has given so far */
	gmod_u32 mode, arrays, chunks;
	gmod_u32 numbers;      /* of segments, with 0, which none has */
	gmod_u32 slots, delay; /* delay: guard passes between a free and the release of the memory */
	gmod_u32 pass;
	gmod_u32 spares; /* empty segments at hand */
	gmod_u32 given;
	gmod_u64 memory;     /* limit in the high half, committed in the low half */
	gmod_u32 asked;      /* chunks asked for */
	gmod_u32 refused;    /* what `given` was + 1 when somebody waited for more in vain */
	gmod_u32 beat;       /* segments that the guard has looked at */
	gmod_u32 away;       /* what `beat` was + 1 when somebody waited for the guard in vain */
	gmod_u32 used, peak; /* chunks that are not free; the most there have been */
	struct gmod_chunk *chunk;
	struct gmod_array *array;
	gmod_u64 *segment; /* by number: its address */
	struct gmod_device_ring *ring;
	struct gmod_set free_chunks, free_numbers, spare_numbers, class_chunks[GMOD_SETS];
	gmod_u32 hint[GMOD_SETS][GMOD_SLOTS];    /* a chunk's number + 1 */
	gmod_u32 growing[GMOD_SETS][GMOD_SLOTS]; /* 1 while somebody gets a chunk for this place */
	gmod_u64 findings, findings_lost;    /* said so far; calls of freeN not reported for want of room in the ring */
	gmod_u64 freed[GMOD_SLOTS];          /* calls of freeN that were good, by multiprocessor */
	gmod_u64 failed, reclaims;           /* allocations that got nothing; scans by threads that were short */
	gmod_u64 releases;                   /* looks at a segment that have released something */
	gmod_u64 live, live_bytes;           /* buffers, by the latest scan of each array */
	gmod_u64 live_peak, live_bytes_peak; /* the most of them that scans have seen */
};

#endif
