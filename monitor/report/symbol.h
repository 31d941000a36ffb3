/*
 * From return addresses to "main app+0x8b01".
 *
 * dladdr() and dl_iterate_phdr() take the loader's lock, which the program may hold while it waits for us (a library's
 * constructor that frees GPU memory). lib/base/object.h takes none with glibc 2.35 or newer. What it must not meet is
 * the unloading of a module in the microsecond in which that one is looked at. Names come from the ELF files on disk,
 * which are treated as input that may be wrong. Nothing is allocated, no lock is taken and errno not changed. May be
 * called from any thread and from inside a hook; it reads files, so not in a signal handler.
 */
#ifndef GMOD_MONITOR_REPORT_SYMBOL_H
#define GMOD_MONITOR_REPORT_SYMBOL_H

#include <elf.h>
#include <string.h>

#include "lib/base/python.h"
#include "lib/base/text.h"
#include "lib/base/unwind.h"
#include "monitor/report/demangle.h"

#define GMOD_MODULE_NAME_MAX 128
#define GMOD_MODULE_PATH_MAX 512
#define GMOD_BUILD_ID_MAX 41
#define GMOD_SYMBOL_NAME_MAX 1024

/*
 * One frame. Addresses are those of the call (the last byte before the return address): a call that never returns
 * may be the last thing of its function, and addr2line wants it so too. The offset is the address as the module's file
 * counts, which addr2line takes; of no module pc itself.
 */
struct gmod_frame {
	uintptr_t pc;                       /* of the call */
	uint64_t offset;                    /* in the module's file */
	char module[GMOD_MODULE_NAME_MAX];  /* last part of the path; "": none, e.g. generated code */
	char path[GMOD_MODULE_PATH_MAX];    /* the whole */
	char build_id[GMOD_BUILD_ID_MAX];   /* of the module as it is loaded, in hex; "": it has none */
	char symbol[GMOD_SYMBOL_NAME_MAX];  /* as the file spells it; "": unknown */
	char function[GMOD_SHORT_NAME_MAX]; /* the same, readable: not filled in here */
	/* "  inner.h:12 in inlined, inlined at app.c:41"; by monitor/report/lines.h. "": unknown */
	const char *lines;
};

struct gmod_frames {
	const struct gmod_python *python; /* NULL: none */
	uint32_t depth;
	uint32_t shown; /* a bit for each frame that people want to see */
	struct gmod_frame frame[GMOD_STACK_MAX];
};

/* Working memory of gmod_symbolize(): too large for a program's stack. Needs no initialising. */
struct gmod_symbol_scratch {
	/* The module whose frames are being named. */
	uintptr_t start, end, bias; /* bias: of addresses, against the file's */
	Elf64_Ehdr header;          /* as it was loaded */
	char path[1024], build_id[GMOD_BUILD_ID_MAX];
	Elf64_Sym symbol[2048]; /* some of its file's */
};

void gmod_symbolize(struct gmod_frames *frames, const struct gmod_stack *stack, struct gmod_symbol_scratch *scratch);

/* Is it none of CUDA's, and none of the library's own? The innermost such frame, or NULL. */
bool gmod_is_program_frame(const struct gmod_frame *f);
const struct gmod_frame *gmod_site_frame(const struct gmod_frames *frames);

/* In words, "main app+0x8b01" or "train.py:42 in step"; "-" if there is none. */
void gmod_describe_site(const struct gmod_frames *frames, char *out, size_t cap);

/*
 * The interpreter's own frames tell nothing where Python's are known. It is told by the name of its file: a program
 * that holds one has frames of its own in the same file.
 */
static inline bool gmod_is_interpreter(const struct gmod_frames *frames, uint32_t i)
{
	const char *module = frames->frame[i].module;

	return frames->python && (strncmp(module, "python", 6) == 0 || strncmp(module, "libpython", 9) == 0);
}

#define GMOD_NAME_SHOWN 200 /* bytes of a name, in text */

/* Append "main", what stands between, and "app+0x8b01"; of these what is known. */
static inline void gmod_frame_text(struct gmod_text *t, const struct gmod_frame *f, const char *between)
{
	if (f->function[0]) {
		gmod_text_escaped(t, f->function, GMOD_NAME_SHOWN);
		gmod_text_str(t, between);
	}
	if (f->module[0]) {
		gmod_text_escaped(t, f->module, GMOD_NAME_SHOWN);
		gmod_text_str(t, "+");
	}
	gmod_text_fmt(t, "0x%llx", (unsigned long long)f->offset);
}

/* Append "train.py:42 in step". */
static inline void gmod_python_text(struct gmod_text *t, const struct gmod_python_frame *f)
{
	gmod_text_escaped(t, f->file, GMOD_NAME_SHOWN);
	gmod_text_fmt(t, ":%llu in ", (unsigned long long)f->line);
	gmod_text_escaped(t, f->function, GMOD_NAME_SHOWN);
}

#endif
