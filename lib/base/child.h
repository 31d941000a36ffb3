/*
 * Another program, started without the program that GMOD is in getting to know.
 *
 * An exec makes SIGCHLD a process's exit signal again, however it was cloned: a tool that were our own child would meet
 * the program's handler and its wait(-1). So between them stands a helper, a clone without exit signal that never
 * execs: it shares our memory, has descriptors of its own, and waits for the tool. Only __WCLONE finds it.
 *
 *     gmod-report ──clone(CLONE_VM)──► helper ──clone(CLONE_VM | CLONE_VFORK)──► tool
 *
 * Memory is shared and not copied, because page tables of 100 GB take long to copy. What the tool reads and writes are
 * descriptors of the helper's, so that a program that closes all, or has none left, does no harm. Where the program
 * ends before the tool, the helper ends that, too.
 */
#ifndef GMOD_LIB_BASE_CHILD_H
#define GMOD_LIB_BASE_CHILD_H

#include <stdbool.h>
#include <stdint.h>

struct gmod_child {
	/* How it ended, as waitpid() has it (-1: it was not even started), and what it printed, as far as there is
	 * room. */
	int status;
	char output[65536];
	/* Its own, of which no more than the arguments of gmod_child_start() are read by others. */
	const char *command, *input;
	uint64_t limit_ns;
	_Atomic uint64_t *failures;
	int helper; /* 0: none yet */
	_Alignas(64) char stack[2][32768];
};

/* Keep the environment that children get: the program's, without LD_PRELOAD. Once, where the program does not set it.
 */
void gmod_child_prepare(void);

/*
 * Start /bin/sh -c COMMAND, by a thread of GMOD's own that stays. The two strings stay, too, until it has ended, and
 * input is its standard input. After limit_ns it is killed, with all that it has started. failures, if not NULL, counts
 * it where it cannot be started, or does not end with 0. Under a debugger nothing is started, because that would see
 * it; nor where the program has given up privileges since gmod_child_prepare(), as for a sandbox, which may end who
 * breaks its rules. In its first moments the helper may change the thread's errno.
 */
void gmod_child_start(struct gmod_child *c, const char *command, const char *input, uint64_t limit_ns,
		      _Atomic uint64_t *failures);

/* Has what was started ended? From any thread. */
bool gmod_child_ended(const struct gmod_child *c);

#endif
