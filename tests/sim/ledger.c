/*
 * What the program has not given back when the driver goes, a kind a line. What goes with its context is not there any
 * more once that has ended. Default streams, a library's modules and a module's variables are nobody's to give back;
 * graphs that were instantiated are graphs, too.
 */
#include "sim.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A macro, as lists have their own types. */
#define COUNT_IN(list, wanted) \
	({ \
		long count_ = 0; \
\
		for (__typeof__(list) it = (list); it; it = it->next) \
			count_ += (wanted); \
		count_; \
	})

/* Of the contexts that live. */
#define COUNT_OF_CONTEXTS(list, wanted) \
	({ \
		long sum_ = 0; \
\
		for (CUcontext c = sim.contexts; c; c = c->next) \
			sum_ += c->alive ? COUNT_IN(c->list, wanted) : 0; \
		sum_; \
	})

/* Nobody reads half a ledger: several processes may write. */
static void write_down(const char *path, const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		fprintf(stderr, "simulated driver: %s cannot be written\n", path);
	if (fd >= 0)
		close(fd);
}

/* What is being freed waits for work, and is given back. */
static long blocks(enum block_kind kind)
{
	return COUNT_IN(block_first(), it->kind == kind && !it->freeing);
}

void ledger_write(void)
{
	const char *path = getenv("SIM_LEDGER");
	const struct {
		const char *name;
		long count;
	} lines[] = {
	    {"contexts", COUNT_IN(sim.contexts, it->alive)},
	    {"in_order", COUNT_IN(sim.contexts, it->alive && it->in_order)},
	    {"streams", COUNT_OF_CONTEXTS(streams, !it->destroyed && it != it->ctx->legacy && !it->thread)},
	    {"events", COUNT_OF_CONTEXTS(events, !it->lost)},
	    {"modules", COUNT_OF_CONTEXTS(modules, !it->library)},
	    {"libraries", sim.held.libraries},
	    {"graphs", sim.held.graphs},
	    {"device", blocks(BLOCK_DEVICE)},
	    {"managed", blocks(BLOCK_MANAGED)},
	    {"host", blocks(BLOCK_HOST)},
	    {"registered", blocks(BLOCK_REGISTERED)},
	    {"pool", blocks(BLOCK_POOL)},
	    {"pools", pools_made()},
	    {"imported", blocks(BLOCK_IPC)},
	    {"mapped", blocks(BLOCK_VMM)},
	    {"physical", sim.held.physicals},
	    {"reserved", sim.held.reservations},
	};
	char text[1024];
	int length = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (lines[i].count)
			length += sprintf(text + length, "%s %ld\n", lines[i].name, lines[i].count);
	if (path)
		write_down(path, text, length);
}
