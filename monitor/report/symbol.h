/*
 * From return addresses to "main app+0x8b01".
 *
 * dladdr() and dl_iterate_phdr() take the loader's lock, which the program may hold while it waits for us (a library's
 * constructor that frees GPU memory). So the process's own map of memory is read from /proc, and names from the ELF
 * files on disk; both are treated as input that may be wrong. Nothing is allocated, no lock is taken and errno not
 * changed. May be called from any thread and from inside a hook; it reads files, so not in a signal handler.
 */
#ifndef GMOD_MONITOR_SYMBOL_H
#define GMOD_MONITOR_SYMBOL_H

#include "monitor/registry/finding.h"

#define GMOD_MODULE_NAME_MAX 128
#define GMOD_SYMBOL_NAME_MAX 1024
#define GMOD_MODULES_MAX GMOD_STACK_MAX

/*
 * One frame. Addresses are those of the call (the last byte before the return address): a call that never returns
 * may be the last thing of its function, and addr2line wants it so too. The offset is the address as the module's file
 * counts, which addr2line takes; of a file that cannot be read pc - load address, of no module pc itself.
 */
struct gmod_frame {
	uintptr_t pc;                      /* of the call */
	uint64_t offset;                   /* in the module, see below */
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

#endif
