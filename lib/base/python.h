/*
 * Where the calling thread is in its Python program: the function, file and line of each frame.
 *
 * The interpreter is only read, without its lock, and nothing of it is called but PyGILState_GetThisThreadState(),
 * which returns a thread-local variable. A thread that has called C stands still in its own frames until that returns:
 * nobody else pushes, pops or moves them, and each holds a reference to its code object, which holds its name, its file
 * and its table of lines. What is not so is looked for: first a thread state that is another thread's, or of an
 * interpreter that is not the main one; and where a stack is read, a frame that is being torn down, whose code object
 * has no reference left.
 *
 * Python's end frees the states of all threads but its own, whatever they are doing, and a thread may lose its
 * processor between any two loads. So loads are for the process's main thread, which is the one that ends Python;
 * any other one, and the first stack of all, is read by system calls that fail where there is no memory. Such a call
 * takes a microsecond: a thread that does little else is looked at for a thirtieth of its time. Until one stack was as
 * expected throughout, nothing is taken for a Python that is known here.
 *
 * Which field lies where comes from the interpreter itself (3.13 and 3.14) or from a table (3.11 and 3.12). Names and
 * lines are copied when a stack is first seen, by system calls: code objects die, and others take their places. A
 * version tells one from the other, and in 3.11, where there is none, its lines and its file do.
 */
#ifndef GMOD_LIB_BASE_PYTHON_H
#define GMOD_LIB_BASE_PYTHON_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/phase.h"

enum { GMOD_PYTHON_MAX = 32 }; /* frames of a stack */

struct gmod_python_frame {
	const char *function, *file; /* the qualified name; UTF-8, or bytes that are none */
	uint64_t line;
};

struct gmod_python {
	uint64_t depth;
	struct gmod_python_frame frame[GMOD_PYTHON_MAX]; /* innermost first; as many as `depth` are there */
};

/* The process's main thread, which is the one that ends Python. Set when the library is loaded. */
extern pthread_t gmod_python_main_thread;

/*
 * Frames of a launch's stack: as few as tell one line from another, for each costs the program's thread some 15 ns. Set
 * before the first launch to more where that time matters less.
 */
extern unsigned gmod_launch_frames;

/* If this process has a Python that can be read: find() is dlsym(). Call it once. */
void gmod_python_init(void *(*find)(void *handle, const char *symbol));

/*
 * A number for the calling thread's innermost frames, GMOD_PYTHON_MAX at most, the same for the same ones; 0: it runs
 * no Python or none that can be read, rests, or there is no room for one more stack. It calls no malloc, takes no lock
 * and changes no errno.
 */
uint32_t gmod_python_here(unsigned depth);

/* What the number stands for. NULL: 0, or what could not be read. */
const struct gmod_python *gmod_python_stack(uint32_t number);

/*
 * By a code object's table of lines (co_linetable), n bytes and a zero behind them: the line of the instruction at that
 * offset, in bytes. 0: there is none.
 */
uint64_t gmod_python_line(const uint8_t *table, size_t n, uint64_t first_line, uint64_t offset);

#endif
