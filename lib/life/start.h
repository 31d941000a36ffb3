/*
 * The start: after the program's first successful cuInit.
 */
#ifndef GMOD_LIB_LIFE_START_H
#define GMOD_LIB_LIFE_START_H

/*
 * Called with the driver initialised; does nothing when GMOD has started, is disabled, or cannot work here. Runs once,
 * in the thread whose cuInit succeeded, after that call; a second thread that comes meanwhile goes on unguarded.
 */
void gmod_start(void);

/* Look when a signal ends the process, by the option `signals` (lib/life/ending.c). Not in a program of unit tests. */
__attribute__((weak)) void gmod_signals_start(void);

#endif
