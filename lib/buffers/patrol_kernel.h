/*
 * The patrol's kernel (lib/buffers/patrol.cu), from PTX that is part of the library to a function of a context. The
 * driver compiles it for the device it finds, or has it in its cache: 40 ms, in which nobody else waits for the driver
 * (measured on an H200, driver 580). A thread of its own does that: the monitor looks meanwhile.
 */
#ifndef GMOD_LIB_BUFFERS_PATROL_KERNEL_H
#define GMOD_LIB_BUFFERS_PATROL_KERNEL_H

#include "lib/driver/driver.h"

enum gmod_patrol_kernel { GMOD_KERNEL_UNASKED, GMOD_KERNEL_COMING, GMOD_KERNEL_THERE, GMOD_KERNEL_REFUSED };

/* For the process; who asks first has it compiled. By one thread. */
enum gmod_patrol_kernel gmod_patrol_kernel(void);

/*
 * The function in the current context, once the kernel is there. While another kernel runs, getting it waits for that
 * one, and so do launches of the program meanwhile: only where all work is proven complete. NULL: the driver refuses.
 */
CUfunction gmod_patrol_function(void);

#endif
