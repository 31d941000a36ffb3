/* Whether the GPU may still be at work for the program. */
#ifndef GMOD_MONITOR_OUTSTANDING_H
#define GMOD_MONITOR_OUTSTANDING_H

#include <stdbool.h>

/* True while a launch is not proven complete, or still inside its driver call. */
bool gmod_work_outstanding(void);

#endif
