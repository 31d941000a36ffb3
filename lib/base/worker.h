/*
 * Threads of GMOD's own.
 */
#ifndef GMOD_LIB_BASE_WORKER_H
#define GMOD_LIB_BASE_WORKER_H

#include <stdint.h>

struct gmod_worker {
	const char *name; /* of the thread: 15 characters at most */
	void (*run)(void);
};

/*
 * Start the thread, detached, with 512 KiB of stack for run() whatever the program's static thread-local storage takes,
 * and with gmod_outside_signals() blocked from birth. *w stays. When run() returns, the thread sleeps until the process
 * ends. Returns 0, or what pthread_create() said: then nothing was started. Any thread.
 */
int gmod_worker_start(const struct gmod_worker *w);

/* CPU time that all of them have taken. From any thread and from signal handlers. */
uint64_t gmod_workers_cpu_ns(void);

#endif
