/* What the programs share: the dump's settings, a fenced buffer, the dump's reader, and lines of output. */
#ifndef FAULTS_COMMON_H
#define FAULTS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cuda.h>

#define MAPPED ((size_t)2 << 20)
#define RESERVED (4 * MAPPED)
#define DUMPS 4
#define FEW 8

/* The reader is a process of its own, so that it outlives a death of the program; times are of CLOCK_MONOTONIC. */
struct reader {
	_Atomic uint64_t opened;
	_Atomic uint64_t first[DUMPS];
	_Atomic uint64_t last[DUMPS];
	_Atomic uint64_t bytes[DUMPS];
	_Atomic int begun;
	_Atomic int ended;
	_Atomic bool done;
};

struct fence {
	CUdeviceptr start;
	CUmemGenericAllocationHandle memory;
};

uint64_t now_ns(void);
void sleep_ns(uint64_t ns);
const char *error_name(CUresult r);
/* Ends the program with status 3 if the call that made r failed: a step that is no part of the question. */
void must(CUresult r, const char *what);
/* One line "name=value"; written at once, because the program may die at the next call. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports the signal, the thread and the module of its PC, then dies of it. */
void tell_deaths(void);
/* Between cuInit and the first context. */
void set_dump(const char *path);
/* 2 MiB of memory with 6 MiB behind it that are reserved and not mapped. */
struct fence make_fence(CUdevice device);
CUdeviceptr past_end(const struct fence *f);
/* Makes the FIFO and starts the reader; keep is a file for the first dump, or NULL. */
struct reader *start_reader(const char *fifo, const char *keep);
/* Tells the reader that no further dump is expected. */
void stop_reader(struct reader *r);
bool wait_for(_Atomic int *counter, int least, uint64_t ns);
/* Whether the ELF file's sections all lie within the bytes that arrived. */
bool dump_is_complete(const unsigned char *bytes, size_t n);
CUfunction find_function(CUmodule m, const char *name);
/* blocks of 32 threads, or of 256 if they are more than FEW; only thread 7 of block 3 faults in a kernel named "_one".
 */
CUresult launch(CUfunction f, unsigned blocks, CUdeviceptr address, CUstream s);

#endif
