/*
 * The journal of launches (option journal): with which sizes, parameters and buffers each kernel is launched, and the
 * images that the kernels come from, for tools that ask what a kernel could do. gmod(1), JOURNAL, is for its readers.
 *
 *     hook ──what is new──► queue ──gmod-journal, a thread of its own──► lines (monitor/launches/journal_write.h)
 *
 * A launch is looked at by the copy of its parameters in its thread's ring (monitor/launches/arguments.h). What is the
 * same as at the function's last launch is only counted; else pointers are replaced by buffer and offset, and what has
 * been told before is counted, too: its signature. A function tells 64 of them; after that launches that have the least
 * or the greatest value so far of a scalar, 64 at once, and at the end the latest. After 1000 launches of a function
 * one in 64 is looked at.
 *
 * Each function has a place that one thread at a time looks into: a second one counts its launch and goes on. Nothing
 * here waits, allocates by malloc or writes.
 */
#ifndef GMOD_MONITOR_LAUNCHES_JOURNAL_H
#define GMOD_MONITOR_LAUNCHES_JOURNAL_H

#include "monitor/launches/arguments.h"

struct gmod_journal_shape {
	uint32_t is_graph, grid[3], block[3], cluster[3], shared, unused; /* cluster 0: none */
};

/*
 * The queue: pieces one behind the other in memory that is not used again, so that what comes when it is full is
 * dropped and counted. Pages that have been read are given back.
 */
#define GMOD_JOURNAL_BYTES (UINT64_C(128) << 20)
enum gmod_journal_kind { GMOD_JOURNAL_IMAGE, GMOD_JOURNAL_SITE, GMOD_JOURNAL_LAUNCH };

struct gmod_journal_piece {
	_Atomic uint32_t size; /* with this head; 0: it is not there yet */
	uint32_t kind;
	union {
		struct gmod_journal_image {
			uint64_t id, size;
			void *bytes; /* of gmod_map(): the reader's */
			const char *kind;
		} image;
		struct gmod_journal_site {
			uint64_t hash;
			struct gmod_stack stack;
		} site;
		struct gmod_journal_launch {
			const struct gmod_signature *signature;
			const char *name;                /* NULL: not known */
			uint64_t image, function;        /* image 0: not known */
			int32_t device, capability;      /* from here on, what makes a launch one of its own */
			uint64_t pointers;               /* so many, behind the parameters: */
			struct gmod_journal_shape shape; /* from here on, as the program gave it */
			uint64_t words[];                /* signature->bytes, and the pointers; their words are zeros */
		} launch;
	};
};
struct gmod_journal_pointer {
	uint16_t at, is_pool;
	uint32_t memory;             /* enum gmod_memory */
	uint64_t offset, size, site; /* site: its hash, 0: none */
};

/* device_of: the device of a context, and its compute capability, 90 for 9.0. false: there is no memory for it. */
bool gmod_journal_init(int32_t (*device_of)(uint64_t context, int32_t *capability));

/*
 * A launch of the thread's that has just been recorded, or (t NULL) a graph's kernel, whose parameters are an array; s
 * NULL: they are not known.
 */
void gmod_journal_launch(const struct gmod_thread *t, uint64_t function, uint64_t context,
			 const struct gmod_journal_shape *shape, const struct gmod_signature *s, void *const *params);

/* The program has loaded a module or library, from memory or else from a file; or got a module of a library. */
void gmod_journal_loaded(uint64_t module, const void *image, const char *file);
void gmod_journal_loaded_as(uint64_t module, uint64_t library);

/* The piece at *position for the one thread that reads, and behind it the next one; NULL: there is none that is there.
 */
const struct gmod_journal_piece *gmod_journal_next(uint64_t *position);
/* How many bytes have ever been put in. */
uint64_t gmod_journal_put_so_far(void);

/* At the end, once: the latest launches with extremes are told; and what was counted. */
struct gmod_journal_counts {
	uint64_t launches, looked_at, dropped;
};
struct gmod_journal_counts gmod_journal_rest(void);

#endif
