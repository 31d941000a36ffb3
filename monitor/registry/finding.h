/*
 * A finding: what GMOD knows about one corruption or misuse, as plain values.
 *
 * Whoever detects something fills a struct gmod_finding on its own stack and hands it to gmod_report(), which copies it
 * with its suspects; the report code only reads it. The suspects are apart, too many for a stack. All strings are
 * borrowed for the duration of that call and may hold any bytes (kernel names come from the program): printing escapes
 * them. Times are nanoseconds of CLOCK_REALTIME.
 */
#ifndef GMOD_MONITOR_REGISTRY_FINDING_H
#define GMOD_MONITOR_REGISTRY_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/unwind.h"
#include "lib/faults/fault.h"

#define GMOD_SUSPECTS_MAX 64
#define GMOD_SUSPECTS_SHOWN 8 /* in text, and in the first line of JSON */
#define GMOD_OBSERVED_MAX 32
#define GMOD_PLACES_MAX 4
#define GMOD_NEARBY_MAX 8

/* The classes of findings; monitor/README.md says what else has a row for each. */
enum gmod_class {
	GMOD_HEAP_BUFFER_OVERFLOW,
	GMOD_HEAP_BUFFER_UNDERFLOW,
	GMOD_USE_AFTER_FREE,
	GMOD_DOUBLE_FREE,
	GMOD_INVALID_FREE,
	GMOD_API_OUT_OF_BOUNDS,
	GMOD_LEAK,
	GMOD_POST_MORTEM,
	GMOD_GPU_FAULT,
	GMOD_CLASS_COUNT
};

/* The name in reports and suppressions, "heap-buffer-overflow" and so on. */
extern const char *const gmod_class_names[GMOD_CLASS_COUNT];
static inline const char *gmod_class_name(enum gmod_class class)
{
	return class < GMOD_CLASS_COUNT ? gmod_class_names[class] : "unknown";
}

/* Bytes were changed: those fields of a finding mean something. */
static inline bool gmod_is_corruption(enum gmod_class class)
{
	return class == GMOD_HEAP_BUFFER_OVERFLOW || class == GMOD_HEAP_BUFFER_UNDERFLOW ||
	       class == GMOD_USE_AFTER_FREE;
}

/*
 * PROVISIONAL: seen while kernels that could still be writing run; exactly one FINAL with the same id follows
 * unless the process is killed first. Most findings are FINAL at once. CAUGHT, behind that: a launch was seen to do it
 * again, the first suspect; with more of them only so far as these may have run beside it.
 */
enum gmod_finding_status { GMOD_PROVISIONAL, GMOD_FINAL, GMOD_CAUGHT };

static inline const char *gmod_status_word(enum gmod_finding_status status)
{
	static const char *const words[] = {"provisional", "final", "caught"};

	return words[status];
}

/* What kind of memory a buffer is, as the program asked for it. */
enum gmod_memory { GMOD_MEM_DEVICE, GMOD_MEM_MANAGED, GMOD_MEM_HOST, GMOD_MEM_KERNEL /* by mallocN */ };

/* A thread of a kernel's grid. */
struct gmod_kernel_thread {
	bool known;
	uint64_t block;
	uint32_t thread; /* in its block */
};

struct gmod_buffer_facts {
	uint64_t base; /* user address; 0: no buffer known */
	uint64_t size; /* user bytes */
	int device;    /* device ordinal of the allocating context */
	enum gmod_memory memory;
	const char *backend; /* its name in reports; "native": GMOD does not guard the buffer */
	const char *name;    /* of a range of the program's own pool; NULL: it is none */
	bool exported;       /* to other processes, whose kernels GMOD does not see */
	uint64_t serial;     /* 1 for the process's first guarded allocation, counting up */
	uint64_t allocated_ns;
	int64_t allocated_tid; /* kernel thread id */
	struct gmod_stack allocated_at;
	struct gmod_kernel_thread allocated_by;  /* by mallocN */
	uint64_t site_allocations, site_guarded; /* by its site so far, of which a sample is guarded; 0: all are */
	uint64_t freed_ns;                       /* 0: not freed */
	int64_t freed_tid;
	struct gmod_stack freed_at;
	bool ended; /* freed by the end of its context */
};

#define GMOD_SEVERAL_STREAMS UINT64_MAX

/* What the arguments of a suspect's launches say, in the order in which a person looks at suspects. */
enum gmod_pointing {
	GMOD_POINTS_AT,      /* one points into the buffer */
	GMOD_POINTS_MAYBE,   /* one may have been the address of the buffer: few others have its mark */
	GMOD_POINTS_NEAR,    /* one points at most GMOD_NEAR bytes in front of what was changed */
	GMOD_POINTS_UNKNOWN, /* some are not known, or no longer */
	GMOD_POINTS_AWAY     /* all are known, and none does: it may have found the address in memory */
};
#define GMOD_NEAR (UINT64_C(1) << 20)
#define GMOD_NO_IDEA (UINT64_MAX - 1)

/* The best that was found. */
struct gmod_pointer {
	enum gmod_pointing pointing;
	uint32_t argument, byte; /* which it is, from 0, and where in it; of AT and NEAR */
	/* Bytes from there to the lowest changed one; UINT64_MAX: it is not below that. Of MAYBE how many marks there
	 * are, of UNKNOWN GMOD_NO_IDEA, or UINT64_MAX where none was the address of the buffer. */
	uint64_t distance;
	uint64_t address;
};

/* One kernel (or graph) that was not proven complete when the canary was last seen intact. */
struct gmod_suspect {
	const char *name; /* as the module spells it (mangled); NULL: unknown */
	uint64_t launches;
	uint64_t unfinished;        /* of these, not proven complete when the report is given */
	uint64_t stream;            /* its handle, or GMOD_SEVERAL_STREAMS */
	uint64_t first_ns;          /* when the first of these launches was, */
	uint64_t launched_ns;       /* ... and the latest; 0: its call has not returned */
	uint64_t graph;             /* executable graph handle when launched through one, else 0 */
	uint32_t grid[3], block[3]; /* of the latest that points like that; 0: not known */
	struct gmod_pointer pointer;
	uint32_t python[GMOD_PLACES_MAX]; /* where (lib/base/python.h); 0 behind the last */
};

/* Where the address of a fault lies, seen from the buffer. */
enum gmod_relation {
	GMOD_NOT_RELATED, /* the address is not known, or near no buffer */
	GMOD_PAST_END,    /* offset bytes past it, from 0 */
	GMOD_BEFORE_START,
	GMOD_INSIDE
};

/* What the buffers near a fault have to do with the kernel. */
enum gmod_given {
	GMOD_GIVEN_UNKNOWN,    /* they live */
	GMOD_GIVEN,            /* its arguments point into them */
	GMOD_GIVEN_TO_LAUNCHES /* those of its latest launches do; the faulty one may not be among them */
};

/* Each place once. */
static inline void gmod_note_place(uint32_t places[GMOD_PLACES_MAX], uint32_t place)
{
	int i = 0;

	while (i < GMOD_PLACES_MAX && places[i] && places[i] != place)
		i++;
	if (i < GMOD_PLACES_MAX)
		places[i] = place;
}

struct gmod_finding {
	uint32_t id; /* 1, 2, 3 ... in the process; a provisional report and its final one share it */
	enum gmod_class class;
	enum gmod_finding_status status;
	struct gmod_buffer_facts buffer;

	/* The changed bytes, for overflow and underflow. offset: lowest changed byte, counted from the end of the
	 * buffer (overflow, >= 0) or from its start (underflow, < 0; use after free, >= 0); for an invalid free,
	 * pointer - base; for a call out of bounds, how far it begins before the buffer or behind it, else 0. */
	int64_t offset;
	/* Underflow: the changed bytes lie so many bytes past the end of a buffer of that size in front; 0: of none. */
	uint64_t past_front, front_size;
	uint64_t changed; /* bytes that differ */
	uint64_t extent;  /* highest changed byte - lowest + 1 */
	uint8_t observed[GMOD_OBSERVED_MAX], expected[GMOD_OBSERVED_MAX];
	uint32_t observed_count;     /* of both, from the lowest changed byte on */
	bool restored;               /* the bytes were put back since */
	uint64_t intact_ns, seen_ns; /* last seen intact, first seen changed */
	uint64_t caught;             /* CAUGHT: the launch's number in its thread, from 1 */

	struct gmod_suspect *suspect; /* by what their arguments say, then fewer launches, then the latest; whoever
					 fills it in has room for suspect_room */
	uint32_t suspect_count, suspect_room;
	uint64_t suspects_omitted;  /* further kernels beyond the array */
	uint64_t launches_lost;     /* launches not proven complete of kernels beyond those that are counted */
	uint64_t unknown_before_ns; /* kernels launched before may be missing; 0: none is */

	/* double-free, invalid-free, api-out-of-bounds: the call that was made. */
	const char *entry_point;
	uint64_t address, length;
	struct gmod_stack called_at;
	int64_t called_tid;
	int error; /* CUresult the program got; post-mortem: the sticky error */
	const char *error_name;

	struct gmod_kernel_thread called_by; /* the call was a kernel's: freeN */

	/* post-mortem: the live buffers that were allocated last, GMOD_NEARBY_MAX at most; or of those that were given.
	 */
	const struct gmod_buffer_facts *nearby;
	uint32_t nearby_count;
	enum gmod_given nearby_given;

	/*
	 * gpu-fault: fault lives as long as the process. address and length: of the access, by fault->lane[fault_lane];
	 * length 0: not known. Suspects are launches of the kernel that faulted; nearby as above, where related is NOT.
	 */
	const struct gmod_fault *fault;
	unsigned fault_lane;
	enum gmod_relation related; /* to buffer; offset says how far, from its start where INSIDE */
};

/* Is the culprit among the suspects, if it is a kernel? */
static inline bool gmod_has_all_suspects(const struct gmod_finding *f)
{
	return !f->suspects_omitted && !f->launches_lost && !f->unknown_before_ns && !f->buffer.exported;
}

/* Do arguments tell who had the buffer? A kernel has its own memory from mallocN, and passes it on in memory. */
static inline bool gmod_arguments_tell(const struct gmod_finding *f)
{
	return gmod_is_corruption(f->class) && f->buffer.memory != GMOD_MEM_KERNEL;
}

/* How many of them a text names; the others it counts. */
static inline uint32_t gmod_suspects_shown(const struct gmod_finding *f)
{
	return f->suspect_count < GMOD_SUSPECTS_SHOWN ? f->suspect_count : GMOD_SUSPECTS_SHOWN;
}

/* The stack that tells one bug from another: the call's that was made, or that of the buffer's allocation. */
static inline bool gmod_site_is_call(const struct gmod_finding *f)
{
	return !gmod_is_corruption(f->class) && f->class != GMOD_LEAK && f->called_at.depth > 0;
}

static inline const struct gmod_stack *gmod_site_stack(const struct gmod_finding *f)
{
	return gmod_site_is_call(f) ? &f->called_at : &f->buffer.allocated_at;
}

/* "cuMemsetD8_v2" and the like, never NULL. */
static inline const char *gmod_entry_point(const struct gmod_finding *f)
{
	return f->entry_point ? f->entry_point : "a driver call";
}

/* Can the CPU have written there by a plain store? */
static inline bool gmod_cpu_may_write(const struct gmod_finding *f)
{
	return f->buffer.base && f->buffer.memory != GMOD_MEM_DEVICE && f->buffer.memory != GMOD_MEM_KERNEL;
}

/* The id of a finding that has just been made; and how many there have been, reported or not. */
uint32_t gmod_finding_next_id(void);
unsigned gmod_finding_count(void);

#endif
