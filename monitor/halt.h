/* Ending the process where the user asked for it: halt_on_error=1. */
#ifndef GMOD_MONITOR_HALT_H
#define GMOD_MONITOR_HALT_H

/* Called after a final report is out. Does not return when halt_on_error is set and there is a finding. */
void gmod_halt_if_asked(void);

#endif
