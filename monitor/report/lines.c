#include "monitor/report/lines.h"

#include <stdlib.h>

#include "lib/base/child.h"
#include "lib/base/clock.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"

/* Of the thread that tells. */
static struct {
	struct gmod_child child;
	struct gmod_frame *frame[GMOD_STACKS * GMOD_STACK_MAX]; /* those that are asked for */
	unsigned count;
	const char *module; /* of one that should have lines, as long as none has */
	char input[65536];
} lines;

/*
 * It reads a line with a file, and one with addresses in it, over and over. Both tools print an address, and for each
 * function there its name and the place, the innermost inlined one first; of each address a line is made: see
 * gmod_frame.lines, behind a tab. Nothing is fetched from a server while a report waits.
 */
static const char script[] =
    "unset DEBUGINFOD_URLS; if command -v llvm-symbolizer; then tool='llvm-symbolizer --output-style=GNU'\n"
    "elif command -v addr2line; then tool=addr2line\n"
    "else exit 127; fi >/dev/null\n"
    "while read -r file && read -r at; do $tool -a -i -f -C -e \"$file\" $at; done | awk '\n"
    "/^0x/ { if (all) print all; all = $0; name = inner = \"\"; next }\n"
    "name == \"\" { name = $0; next }\n"
    "{ sub(/ \\(discriminator.*/, \"\") }\n"
    "!/\\?|:0$/ { all = all (inner == \"\" ? \"\\t  \" : \" in \" inner \", inlined at \") $0; inner = name }\n"
    "{ name = \"\" }\n"
    "END { print all }'";

bool gmod_lines_ask(struct gmod_report_view *v)
{
	const char *path = "";
	struct gmod_text input;

	if (!gmod_child_ended(&lines.child))
		return false;
	gmod_text_init(&input, lines.input, sizeof(lines.input));
	lines.count = 0;
	lines.module = NULL;
	for (int i = 0; i < GMOD_STACKS; i++)
		for (uint32_t k = 0; k < v->stack[i].depth; k++) {
			struct gmod_frame *f = &v->stack[i].frame[k];

			if (!(v->stack[i].shown >> k & 1) || !f->path[0])
				continue;
			lines.module = f->module;
			if (!f->symbol[0]) /* the file may be another one by now */
				continue;
			if (strcmp(path, f->path) != 0) {
				gmod_text_str(&input, *path ? "\n" : "");
				gmod_text_str(&input, path = f->path);
				gmod_text_str(&input, "\n");
			}
			gmod_text_fmt(&input, "0x%llx ", (unsigned long long)f->offset);
			lines.frame[lines.count++] = f;
		}
	gmod_text_str(&input, "\n");
	if (lines.module)
		gmod_child_start(&lines.child, script, lines.input, GMOD_MILLISECONDS(1500), NULL);
	return lines.module;
}

bool gmod_lines_linger(void)
{
	return !gmod_child_ended(&lines.child);
}

bool gmod_lines_end(void)
{
	static atomic_bool said;
	char *rest = NULL;

	if (!gmod_child_ended(&lines.child))
		return false;
	for (unsigned i = 0; i < lines.count; i++) {
		char *line = strtok_r(i ? NULL : lines.child.output, "\n", &rest);

		if (!line || strtoull(line, &line, 16) != lines.frame[i]->offset)
			break;
		if (*line == '\t') {
			lines.frame[i]->lines = line + 1;
			lines.module = NULL;
		}
	}
	if (lines.module && gmod_first_time(&said))
		gmod_log_note(0, "no lines of the host code of %s: %s; gmod report FILE adds what it finds to a log",
			      lines.module,
			      !lines.child.status ? "its file has no debug information (-g)"
			      : lines.child.status == 127 << 8
				  ? "neither llvm-symbolizer nor addr2line is in PATH"
				  : "the symbolizer failed, takes too long, or cannot be started");
	return true;
}
