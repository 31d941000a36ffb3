/* Calls of all sorts, and what they are made with. */
#pragma once

#include "conformance.h"

enum { OWN_BYTES = 8192 };

/* What a call may use is there before it, and goes after it; what a call gave away is 0 by then. */
struct scene {
	CUstream at_hand, other; /* at_hand: the one that captures, or whose kernel runs; other: non-blocking */
	struct memory device, managed, pinned, pool, registered, mapped, made;
	char *plain, *own;                               /* own: pages to register */
	CUmemGenericAllocationHandle spare, made_handle; /* spare: as large as mapped, mapped nowhere */
	CUdeviceptr range, made_range;                   /* range: where spare can be mapped */
	int spare_is_mapped;
	CUstream made_stream;
	CUevent recorded, fresh, made_event;
	CUarray array;
	CUgraphExec exec;
	CUmodule module; /* NULL unless one is loaded */
};

void scene_open(struct scene *s, unsigned stream_flags);
void scene_close(struct scene *s);

typedef CUresult scene_call(struct scene *s);

/* Tables that end with a name that is NULL. */

extern const struct capture_call {
	const char *name;
	scene_call *call;
} capture_calls[];

extern const struct wait_call {
	const char *name;
	scene_call *call;
	enum { ON_BUSY, ON_NULL, ON_BLOCKING, ON_PER_THREAD } where;
	enum kind take; /* KINDS, or what to free first so that the call can allocate it */
} wait_calls[];
