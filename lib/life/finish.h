/*
 * The end of the process: the last look, and what is said then.
 */
#ifndef GMOD_LIB_LIFE_FINISH_H
#define GMOD_LIB_LIFE_FINISH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The last look at everything, the summary, and no more guarding. Safe to call more than once, from any thread, and
 * from a signal handler that has interrupted anything. It makes no driver call and takes no lock without a bound: the
 * monitor looks, and if it is stuck for 2 s, the caller does what can be done by loads alone.
 *
 * GMOD_BY_EXIT: the driver's clean-up follows. GMOD_AT_ONCE: nothing does, and the caller may be a signal handler.
 */
enum gmod_ending { GMOD_BY_EXIT, GMOD_AT_ONCE };
void gmod_finish(enum gmod_ending how);

/*
 * The canaries are looked at and what is found is told, by the monitor, within `deadline` ns: for what may end the
 * process, but need not. Where it does, as by a signal, the closing line is said by the thread that gives reports,
 * within 100 ms more, and the caller needs little stack. In a forked child, and without a monitor: nothing. From a
 * signal handler, too.
 */
void gmod_look(uint64_t deadline, bool ends);

/* What the monitor does then and, for the last time, at the end. */
void gmod_look_at_all(bool last);

/*
 * The closing line and what goes before it, once: whoever comes second waits for the first, 1 s at most. Without
 * allocating, asking the driver, or a lock that anybody holds for longer than a line takes to write.
 */
void gmod_say_the_last(void);

/* What a process that ends by itself with `status` exits with: `exitcode` with exit_on_findings=1 and a finding. */
int gmod_exit_status(int status);

#endif
