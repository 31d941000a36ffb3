#include "monitor/report/fault.h"

#include "lib/base/hash.h"

typedef unsigned long long ull;

static const struct {
	const char *name, *words;
} kinds[] = {
    [GMOD_FAULT_UNKNOWN] = {"unknown", "exception"},
    [GMOD_FAULT_ILLEGAL_ADDRESS] = {"illegal-address", "illegal address"},
    [GMOD_FAULT_MISALIGNED] = {"misaligned-address", "misaligned address"},
    [GMOD_FAULT_OUT_OF_RANGE] = {"out-of-range", "out of the range of shared or local memory"},
    [GMOD_FAULT_ADDRESS_SPACE] = {"address-space", "wrong kind of memory for the instruction"},
    [GMOD_FAULT_INSTRUCTION] = {"illegal-instruction", "illegal instruction"},
    [GMOD_FAULT_STACK] = {"stack-overflow", "stack overflow"},
    [GMOD_FAULT_ASSERTION] = {"assertion", "assertion"},
    [GMOD_FAULT_TRAP] = {"trap", "trap or breakpoint"},
};

void gmod_fault_view(struct gmod_fault_view *v, const struct gmod_finding *f)
{
	static const struct gmod_fault nothing;
	const struct gmod_fault *fault = f->fault ? f->fault : &nothing;
	struct gmod_text t;

	v->finding = f;
	v->raw = fault;
	v->lane = f->fault_lane < fault->lane_count ? &fault->lane[f->fault_lane] : NULL;
	v->has_address = v->lane && v->lane->has_address;
	v->has_thread = v->has_address || (v->lane && fault->lane_count == 1);
	v->kind = kinds[fault->kind].name;
	v->distance = f->offset < 0 ? -(uint64_t)f->offset : (uint64_t)f->offset;
	gmod_short_name(fault->kernel ? fault->kernel : "", v->kernel, sizeof(v->kernel));
	gmod_short_name(fault->function ? fault->function : "", v->function, sizeof(v->function));
	for (unsigned i = 0; i < fault->lines; i++) {
		const struct gmod_fault_line *l = &fault->at[i];

		gmod_text_init(&t, v->line[i].file, sizeof(v->line[i].file));
		gmod_text_str(&t, l->directory ? l->directory : "");
		gmod_text_str(&t, l->directory ? "/" : "");
		gmod_text_str(&t, l->file ? l->file : "?");
		gmod_short_name(l->function ? l->function : "", v->line[i].function, sizeof(v->line[i].function));
	}
}

uint64_t gmod_fault_site_hash(uint64_t h, const struct gmod_fault *fault)
{
	const char *name = fault->function ? fault->function : fault->kernel;

	if (!name)
		return 0;
	return gmod_hash_bytes(gmod_hash_bytes(h, name, strlen(name)), &fault->offset, sizeof(fault->offset));
}

void gmod_fault_site_text(struct gmod_text *t, const struct gmod_fault_view *v)
{
	const char *name = *v->function ? v->function : v->kernel;

	gmod_text_escaped(t, *name ? name : "-", GMOD_NAME_SHOWN);
	if (*name && v->raw->has_pc)
		gmod_text_fmt(t, "+0x%llx", (ull)v->raw->offset);
}

static void add_three(struct gmod_text *t, const char *what, const uint32_t n[3])
{
	gmod_text_fmt(t, "%s (%u,%u,%u)", what, n[0], n[1], n[2]);
}

void gmod_fault_line_text(struct gmod_text *t, const struct gmod_fault_view *v, unsigned i)
{
	gmod_text_escaped(t, v->line[i].file, GMOD_FAULT_FILE_SHOWN);
	gmod_text_fmt(t, ":%u", v->raw->at[i].line);
	if (!*v->line[i].function)
		return;
	gmod_text_str(t, " in ");
	gmod_text_escaped(t, v->line[i].function, GMOD_NAME_SHOWN);
}

void gmod_fault_kernel_text(struct gmod_text *t, const struct gmod_fault_view *v)
{
	gmod_text_escaped(t, *v->kernel ? v->kernel : "unknown", GMOD_NAME_SHOWN);
	if (*v->function) {
		gmod_text_str(t, ", function ");
		gmod_text_escaped(t, v->function, GMOD_NAME_SHOWN);
	}
	if (v->raw->lines) {
		gmod_text_str(t, ", at ");
		gmod_fault_line_text(t, v, 0);
	}
}

void gmod_fault_instruction_text(struct gmod_text *t, const struct gmod_fault_view *v)
{
	const struct gmod_fault *fault = v->raw;

	gmod_fault_site_text(t, v);
	gmod_text_fmt(t, " at 0x%llx", (ull)fault->pc);
	if (fault->has_instruction)
		gmod_text_fmt(t, ": 0x%016llx 0x%016llx", (ull)fault->instruction[0], (ull)fault->instruction[1]);
	if (fault->capability)
		gmod_text_fmt(t, " of sm_%u", fault->capability);
	if (fault->places > 1)
		gmod_text_fmt(t, ", the first of %u that faulted", fault->places);
}

void gmod_fault_thread_text(struct gmod_text *t, const struct gmod_fault_view *v)
{
	const struct gmod_fault *fault = v->raw;

	if (!v->lane) {
		gmod_text_str(t, "which thread it was is not known");
		gmod_text_str(t, fault->has_pc ? ": its warp had left" : "");
		return;
	}
	add_three(t, "block", fault->block);
	add_three(t, ", thread", v->lane->thread);
	gmod_text_fmt(t, "%s; %u thread%s of that warp, %u warp%s in all", v->has_thread ? "" : " or another one",
		      fault->lane_count, gmod_plural(fault->lane_count), fault->warps, gmod_plural(fault->warps));
}

static void add_access(struct gmod_text *t, const struct gmod_operand *operand)
{
	static const char *const access[] = {"read", "write", "atomic access"};
	static const char *const space[] = {
	    [GMOD_SPACE_SHARED] = " of shared memory", [GMOD_SPACE_LOCAL] = " of local memory"};

	gmod_text_fmt(t, ": %s of %u byte%s", access[operand->access], operand->bytes, gmod_plural(operand->bytes));
	if (operand->space >= GMOD_SPACE_SHARED)
		gmod_text_str(t, space[operand->space]);
}

void gmod_fault_title(struct gmod_text *t, const struct gmod_fault_view *v)
{
	static const char *const where[] = {
	    [GMOD_PAST_END] = "past the end of", [GMOD_BEFORE_START] = "before the start of", [GMOD_INSIDE] = "inside"};
	const struct gmod_finding *f = v->finding;
	const struct gmod_fault *fault = v->raw;

	gmod_text_str(t, kinds[fault->kind].words);
	if (fault->kind == GMOD_FAULT_UNKNOWN)
		gmod_text_fmt(t, " %u", fault->driver_kind);
	if (fault->has_operand)
		add_access(t, &fault->operand);
	if (!v->has_address)
		return;
	if (f->related != GMOD_NOT_RELATED)
		gmod_text_fmt(t, ", %llu byte%s %s a %llu-byte buffer%s", (ull)v->distance, gmod_plural(v->distance),
			      where[f->related], (ull)f->buffer.size, f->buffer.freed_ns ? " that had been freed" : "");
	else if (fault->operand.space < GMOD_SPACE_SHARED)
		gmod_text_str(t, ", near no buffer that GMOD knows");
}

unsigned gmod_fault_users_line(const struct gmod_fault_view *v)
{
	unsigned i = 0;

	while (i + 1 < v->raw->lines && strstr(v->line[i].file, "/targets/") && strstr(v->line[i].file, "/include/"))
		i++;
	return i;
}

bool gmod_fault_next_step(struct gmod_text *t, const struct gmod_fault_view *v)
{
	if (!v->raw->lines) {
		gmod_text_str(t, v->raw->has_pc ? "build with -lineinfo (nvcc, NVRTC; numba: "
						  "lineinfo=True) to have the line named"
						: "");
		return v->raw->has_pc;
	}
	gmod_text_str(t, "look ");
	if (v->has_thread) {
		add_three(t, "what thread", v->lane->thread);
		add_three(t, " of block", v->raw->block);
		gmod_text_str(t, " does ");
	}
	gmod_text_str(t, "at ");
	gmod_fault_line_text(t, v, gmod_fault_users_line(v));
	gmod_text_str(t, "; the next run may show other bugs");
	return true;
}
