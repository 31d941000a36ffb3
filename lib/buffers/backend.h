/*
 * Where a guarded buffer lives: one struct gmod_backend for each kind of place, and one list of them, GMOD_BACKENDS. A
 * new one is a file of its own and a name there; nobody else asks which one a buffer has.
 *
 *     alloc ──► arm ──► LIVE
 *                        │
 *                        └──► RELEASING, disarm ──► free, back to LIVE if it is refused
 *                                 │
 *                                 └── the context has gone: lose
 *
 * lib/buffers/buffer.c calls them in this order, in the buffer's context and in the program's own capture mode, with
 * the record in the caller's hands. Between alloc and arm it fills the record and writes the canaries, and before free
 * it looks at them. A function returns what the driver said and counts failures of its own (gmod_degraded()). What is
 * optional may be NULL.
 */
#ifndef GMOD_LIB_BUFFERS_BACKEND_H
#define GMOD_LIB_BUFFERS_BACKEND_H

#include "lib/context/context.h"
#include "monitor/registry/registry.h"

/* What the program asked for. */
struct gmod_request {
	enum gmod_memory memory;
	size_t size;
	unsigned flags;               /* of cuMemAllocManaged or cuMemHostAlloc */
	bool plain_host;              /* cuMemAllocHost rather than cuMemHostAlloc */
	struct gmod_context *context; /* for backends, set by gmod_buffer_alloc() */
	bool late;                    /* its canaries may still be on their way */
	bool capped;                  /* redzones take as much of the device as they may */
	uint64_t own;                 /* a word that the backend wants in the record; 0 at first */
};

enum gmod_answer {
	GMOD_DECLINES, /* the next one is asked */
	GMOD_ACCEPTS,  /* the memory is there */
	GMOD_FAILS,    /* the native call decides */
};

struct gmod_backend {
	const char *name; /* in reports */
	const char *says; /* of a device on which it is the first that works, as works() says; NULL: nothing */
	unsigned choices; /* of option backend for which it is asked, a bit each; 0: for all */

	/*
	 * The CPU reads and writes the body. Otherwise canaries beside the user's bytes are written and read by copies
	 * in the context's own stream, and a request in a context without one has to be declined.
	 */
	bool sees_body;
	/* What the program has freed may be kept back for a while (lib/buffers/quarantine.h). */
	bool keeps_back;

	/*
	 * *place, and q->own, where the answer is GMOD_ACCEPTS only. What lies beside the user's bytes there becomes
	 * canary (struct gmod_bounds), and place->zone_head and place->end are multiples of GMOD_DEVICE_ALIGNMENT.
	 */
	enum gmod_answer (*alloc)(struct gmod_request *q, struct gmod_place *place);
	/* Optional: what is left to do once the canaries are there, before the buffer is the program's. */
	void (*arm)(const struct gmod_request *q, struct gmod_record *r);
	/* Optional: the opposite, before anything is waited for, or looked at. */
	void (*disarm)(const struct gmod_record *r);
	/* An error leaves the memory as it was. */
	CUresult (*free)(struct gmod_record *r);
	/* Optional: the same for a disarmed buffer that has gone with its context, or will go with it. */
	void (*lose)(struct gmod_record *r);

	/* Does it serve buffers of the device? Optional where it says nothing. */
	bool (*works)(int device);
	/* Optional: contexts of these devices, a bit each, may use the buffer from now on (lib/buffers/peers.h). */
	void (*open)(const struct gmod_record *r, uint64_t devices);
};

/* All there are, in the order in which they are asked: gmod_backend_mapped and so on. */
#define GMOD_BACKENDS(EACH) EACH(fence) EACH(mapped) EACH(redzone) EACH(managed) EACH(pinned)

#define GMOD_BACKEND_DECLARED(name) extern const struct gmod_backend gmod_backend_##name;
GMOD_BACKENDS(GMOD_BACKEND_DECLARED)

/* NULL ends the list. */
extern const struct gmod_backend *const gmod_backends[];

/* The real free of what the driver has given, in whatever context. */
static inline CUresult gmod_free_device(struct gmod_record *r)
{
	return NEXT(cuMemFree_v2)(gmod_record_details(r)->raw);
}

#endif
