/*
 * The patrol's kernel (lib/buffers/patrol.cu), from PTX that is part of the library to a function of a context. The
 * driver compiles it for the device it finds, or has it in its cache: 40 ms, in which nobody else waits for the driver
 * (measured on an H200, driver 580). A thread of its own does that: the monitor looks meanwhile.
 */
#ifndef GMOD_LIB_BUFFERS_PATROL_KERNEL_H
#define GMOD_LIB_BUFFERS_PATROL_KERNEL_H

#include <stdatomic.h>

#include "lib/driver/driver.h"

enum gmod_patrol_kernel { GMOD_KERNEL_UNASKED, GMOD_KERNEL_COMING, GMOD_KERNEL_THERE, GMOD_KERNEL_REFUSED };

/* For the process; who asks first has it compiled. By one thread. */
enum gmod_patrol_kernel gmod_patrol_kernel(void);

/*
 * The function of one context. While another kernel runs, getting it waits for that one, and so do launches of the
 * program meanwhile: only where all work is proven complete. That does the monitor, or whichever thread finds the
 * context at rest; from NOT_YET to WANTED and from GOT on it is the monitor's.
 */
enum gmod_patrol_stage { GMOD_NOT_YET, GMOD_WANTED, GMOD_GETTING, GMOD_GOT };
struct gmod_patrol_ready {
	atomic_int stage;
	unsigned life;       /* whose it is, gmod_context_life() */
	CUfunction function; /* NULL: the driver refuses */
};
extern atomic_int gmod_patrol_wanted; /* by how many contexts */

/* Which it was at before. */
int gmod_patrol_to_stage(struct gmod_patrol_ready *r, enum gmod_patrol_stage stage);

/* In the context, which is at rest: if it is wanted there. The kernel is there. */
void gmod_patrol_get(struct gmod_patrol_ready *r, unsigned life);

#endif
