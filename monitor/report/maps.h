/*
 * The frames of a stack, and which module each lies in: /proc/thread-self/maps. Names are for monitor/report/symbol.c.
 */
#ifndef GMOD_MONITOR_MAPS_H
#define GMOD_MONITOR_MAPS_H

#include "lib/base/unwind.h"

#define GMOD_MODULE_NAME_MAX 128
#define GMOD_SYMBOL_NAME_MAX 1024
#define GMOD_SHORT_NAME_MAX 512
#define GMOD_MODULES_MAX GMOD_STACK_MAX

/*
 * One frame. Addresses are those of the call (the last byte before the return address): a call that never returns
 * may be the last thing of its function, and addr2line wants it so too. The offset is the address as the module's file
 * counts, which addr2line takes; of a file that cannot be read pc - load address, of no module pc itself.
 */
struct gmod_frame {
	uintptr_t pc;                       /* of the call */
	uint64_t offset;                    /* in the module, see below */
	char module[GMOD_MODULE_NAME_MAX];  /* last part of the path; "": none, e.g. generated code */
	char symbol[GMOD_SYMBOL_NAME_MAX];  /* as the file spells it; "": unknown */
	char function[GMOD_SHORT_NAME_MAX]; /* the same, readable (monitor/report/demangle.h) */
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

/*
 * Fill in module and offset (from its load address) of each frame whose pc lies in a file, and in *s the modules that
 * were met.
 */
void gmod_maps_place(struct gmod_frames *frames, struct gmod_symbol_scratch *s);

#endif
