/*
 * From return addresses to "main app+0x8b01", and from mangled names to readable ones.
 *
 * dladdr() and dl_iterate_phdr() take the loader's lock, which the program may hold while it waits for us (a library's
 * constructor that frees GPU memory). So the process's own map of memory is read from /proc, and names from the ELF
 * files on disk; both are treated as input that may be wrong. No function allocates, takes a lock or changes errno.
 * All may be called from any thread and from inside a hook; gmod_symbolize() reads files, so not in a signal handler.
 */
#ifndef GMOD_MONITOR_SYMBOL_H
#define GMOD_MONITOR_SYMBOL_H

#include "monitor/finding.h"

#define GMOD_MODULE_NAME_MAX 128
#define GMOD_SYMBOL_NAME_MAX 1024
#define GMOD_MODULES_MAX GMOD_STACK_MAX

/*
 * One frame. Addresses are those of the call (the last byte before the return address): a call that never returns
 * may be the last thing of its function, and addr2line wants it so too.
 */
struct gmod_frame {
	uintptr_t pc;                      /* of the call */
	uint64_t offset;                   /* pc - load address of the module; pc itself if there is no module */
	char module[GMOD_MODULE_NAME_MAX]; /* last part of the path; "": none, e.g. generated code */
	char symbol[GMOD_SYMBOL_NAME_MAX]; /* as the file spells it; "": unknown */
};

struct gmod_frames {
	uint32_t depth;
	struct gmod_frame frame[GMOD_STACK_MAX];
};

/* Working memory of gmod_symbolize(): too large for a program's stack, so callers map it. Needs no initialising. */
struct gmod_symbol_scratch {
	char buffer[65536];
	uint32_t modules;
	struct gmod_symbol_module {
		char path[1024]; /* "": no file that names could come from */
		uint64_t base;
	} module[GMOD_MODULES_MAX];
	uint32_t module_of[GMOD_STACK_MAX]; /* per frame: index into module[], or GMOD_MODULES_MAX */
	uint64_t file_offset[GMOD_STACK_MAX];
};

void gmod_symbolize(struct gmod_frames *frames, const struct gmod_stack *stack, struct gmod_symbol_scratch *scratch);

/*
 * The qualified name in an Itanium-mangled name, without template arguments and parameters: _Z7vec_addPfi is vec_add.
 * A name that is not mangled, or that cannot be read, is copied as it is. `out` always ends within cap > 0 bytes.
 */
void gmod_short_name(const char *mangled, char *out, size_t cap);

/* The last plain identifier of the short name, which is part of the mangled name as well; false, "": there is none. */
bool gmod_kernel_substring(const char *mangled, char *out, size_t cap);

#endif
