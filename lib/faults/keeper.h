/*
 * The keeper of the driver's exception dump (faults=exact): a thread that reads it from a pipe.
 *
 *     OFF ──gmod_keeper_start()──► READY ──first byte──► BEGUN ──last byte──► WHOLE ──told()──► TOLD or UNTOLD
 *
 * The driver is asked for dumps after cuInit and before the first context, which is when it looks (measured), and
 * opens the pipe by the path /proc/self/task/TID/fd/N. The keeper has a table of descriptors of its own, empty but for
 * the pipe: a program that closes or recycles descriptors meets none of ours, and none of its own stays open here. It
 * closes its write end at the first byte, so that the pipe ends when the driver closes the file; it reads to the end
 * whatever happens, because a wait of the program's lasts as long, and takes no lock. What there is to tell is told by
 * a second thread, which has the program's descriptors.
 *
 * The first fault ends all contexts of the process, and there is never a second dump (measured on an H200, driver 580,
 * tests/gpu/faults/README.md).
 */
#ifndef GMOD_LIB_FAULTS_KEEPER_H
#define GMOD_LIB_FAULTS_KEEPER_H

#include <stddef.h>

#include "lib/base/phase.h"

enum gmod_keeper {
	GMOD_KEEPER_OFF,
	GMOD_KEEPER_READY,
	GMOD_KEEPER_BEGUN,
	GMOD_KEEPER_WHOLE,
	GMOD_KEEPER_TOLD,
	GMOD_KEEPER_UNTOLD
};

/* A relaxed load of the hooks' own cache line: has a dump begun? */
static inline bool gmod_has_faulted(void)
{
	return __builtin_expect(atomic_load_explicit(&gmod_hot.keeper, memory_order_relaxed) > GMOD_KEEPER_READY, 0);
}

static inline bool gmod_keeper_is_ready(void)
{
	return atomic_load_explicit(&gmod_hot.keeper, memory_order_relaxed) == GMOD_KEEPER_READY;
}

/*
 * Once, in the cuInit that started GMOD. told: in the second thread, with the dump, which stays as long as the
 * process; true: what faulted was said. Where it is not possible, one line says why. Takes up to 1 s.
 */
void gmod_keeper_start(bool (*told)(const void *dump, size_t size));

/* Is a dump in the pipe that the keeper may not have seen yet, or has it begun? */
bool gmod_keeper_has_dump(void);

/* At most ns for a dump's first byte, then at most 10 s for the rest. true: what faulted has been told. Any thread. */
bool gmod_keeper_await(uint64_t ns);

/* Once what faulted has been told, and before the program learns of it: dumps are off again, and a while has passed. */
void gmod_keeper_let_go(void);

/* The end of the process: a FIFO, if there is one, goes. */
void gmod_keeper_clean_up(void);

/*
 * The program asks about dumps, or sets what is to be dumped: from now on it has the settings that were there before
 * ours. Contexts that there are already keep ours, as the driver has it.
 */
void gmod_keeper_withdraw(void);

#endif
