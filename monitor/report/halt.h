/* Ending the process where the user asked for it: halt_on_error=1. */
#ifndef GMOD_MONITOR_HALT_H
#define GMOD_MONITOR_HALT_H

/* Called when a report is out. Does not return when halt_on_error is set and a final one was among those so far. */
void gmod_halt_if_asked(void);

#endif
