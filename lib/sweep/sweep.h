/*
 * A CUDA runtime whose kernels do nothing, for gmod prove --sweep: a program that is run with other numbers makes the
 * launches that it would make, and a journal gets a line of each (gmod(1), JOURNAL). Memory of the device is memory of
 * the host, full of zeros.
 *
 * The library is preloaded, and has no part of libgmod.so. A program that is linked with the shared runtime calls it by
 * name; in one that has the runtime in itself, as nvcc links it by default, the runtime's functions are found by the
 * names in the executable, and lead here from their first byte on (redirect.c; x86-64 only). What is not here says
 * cudaErrorNotSupported, and the journal names it.
 *
 * Environment: GMOD_SWEEP_JOURNAL, the file that lines are added to; GMOD_SWEEP_KERNELS, a line for each kernel: its
 * name, its number in the journal, and offset:size of each parameter.
 */
#ifndef GMOD_SWEEP_SWEEP_H
#define GMOD_SWEEP_SWEEP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The signatures are CUDA's. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define EXPORT __attribute__((visibility("default")))

/* Of cudaError. */
enum {
	SUCCESS = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	INVALID_CONFIGURATION = 9,
	UNKNOWN_SYMBOL = 13,
	INVALID_FUNCTION = 98,
	NOT_SUPPORTED = 801
};

/* An H100's. */
enum {
	THREADS = 1024,
	WARP = 32,
	PROCESSORS = 132,
	SHARED = 48 << 10,
	SHARED_MOST = 227 << 10,
	REGISTERS = 65536,
	CAPABILITY = 90,
	GRID_YZ = 65535
};
#define DEVICE_BYTES ((size_t)80 << 30)

enum { PARAMETERS = 512, WORDS = 512, LINES_OF_KERNEL = 64 };

typedef struct {
	unsigned x, y, z;
} dim3;

struct kernel {
	char *name;
	unsigned number, parameters;
	struct {
		unsigned offset, size;
	} parameter[PARAMETERS];
	uint64_t seen[LINES_OF_KERNEL]; /* hashes of its lines */
	unsigned lines;
	struct kernel *next;
};

struct buffer {
	char *at;
	size_t size;
	const char *memory; /* as the journal names it */
	uint64_t site;
	struct buffer *next; /* the latest first */
};

/* Of all that is shared by the program's threads. */
extern pthread_mutex_t sweep_lock;

/* ---- journal.c: the functions whose names begin with sweep_tell hold the lock ---- */

void sweep_read_kernels(const char *path);
struct kernel *sweep_kernel(const char *name);
/* The place of the program that allocates, told once. */
uint64_t sweep_tell_site(void);
void sweep_tell_launch(struct kernel *k, dim3 grid, dim3 block, size_t shared, void **arguments);
/* What a program asks of the runtime that is not here; once each. */
void sweep_tell_refused(const char *name);

/* ---- memory.c ---- */

/* Under the lock. The buffer that the address is in, or at whose end it is: loops begin there. */
struct buffer *sweep_buffer_at(const char *at);
size_t sweep_bytes_left(void);

/* ---- device.c ---- */

/* The error, which cudaGetLastError() says next. */
int sweep_say(int error);

#endif
