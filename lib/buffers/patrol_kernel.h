/*
 * The patrol's kernel (lib/buffers/patrol.cu), from PTX that is part of the library to a function of a context. The
 * driver compiles it for the device it finds, or has it in its cache: 40 ms of the calling thread that nobody else
 * waits for (measured on an H200, driver 580).
 */
#ifndef GMOD_LIB_BUFFERS_PATROL_KERNEL_H
#define GMOD_LIB_BUFFERS_PATROL_KERNEL_H

#include <stdbool.h>

#include "lib/driver/driver.h"

/* Compiled, once for the process? In any context; by one thread. */
bool gmod_patrol_compiled(void);

/*
 * The function in the current context, once it is compiled. While a kernel runs, getting it waits for that kernel, and
 * so do launches of the program meanwhile: only where all work is proven complete. NULL: the driver refuses.
 */
CUfunction gmod_patrol_function(void);

#endif
