#include "monitor/report/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/file.h"
#include "lib/base/hash.h"
#include "lib/base/origin.h"
#include "monitor/report/demangle.h"

typedef unsigned long long ull;

/* ---- the first line, by class ---- */

void gmod_error_text(struct gmod_text *t, const struct gmod_finding *f)
{
	if (f->error_name)
		gmod_text_escaped(t, f->error_name, 100);
	else
		gmod_text_str(t, "error");
	gmod_text_fmt(t, " (%d)", f->error);
}

static void title_corruption(const struct gmod_finding *f, struct gmod_text *t)
{
	static const char *const where[] = {[GMOD_HEAP_BUFFER_OVERFLOW] = "past the end of",
					    [GMOD_HEAP_BUFFER_UNDERFLOW] = "before the start of",
					    [GMOD_USE_AFTER_FREE] = "inside"};
	uint64_t away = f->offset < 0 ? -(uint64_t)f->offset : (uint64_t)f->offset;

	gmod_text_fmt(t, "%llu byte%s changed, %llu byte%s %s a %llu-byte buffer%s", (ull)f->changed,
		      gmod_plural(f->changed), (ull)away, gmod_plural(away), where[f->class], (ull)f->buffer.size,
		      f->class == GMOD_USE_AFTER_FREE ? " that had been freed" : "");
}

/* NAME<<<(8,1,1),(128,1,1)>>>, launch 4711 of its thread, FILE:LINE */
static void title_caught(const struct gmod_report_view *v, struct gmod_text *t)
{
	const struct gmod_finding *f = v->finding;
	const struct gmod_suspect *s = &f->suspect[0];
	const struct gmod_python *python = gmod_python_stack(s->python[0]);
	uint64_t place = 0;

	/* Below a framework's own lines. */
	while (python && place + 1 < python->depth && strstr(python->frame[place].file, "-packages/"))
		place++;
	gmod_text_str(t, "caught: ");
	if (s->graph)
		gmod_text_fmt(t, "graph 0x%llx", (ull)s->graph);
	else
		gmod_text_escaped(t, *v->suspect[0] ? v->suspect[0] : "a kernel whose name is not known",
				  GMOD_NAME_SHOWN);
	if (s->block[0])
		gmod_text_fmt(t, "<<<(%u,%u,%u),(%u,%u,%u)>>>", s->grid[0], s->grid[1], s->grid[2], s->block[0],
			      s->block[1], s->block[2]);
	gmod_text_fmt(t, ", launch %llu of its thread", (ull)f->caught);
	if (python && python->depth) {
		gmod_text_str(t, ", ");
		gmod_text_escaped(t, python->frame[place].file, GMOD_NAME_SHOWN);
		gmod_text_fmt(t, ":%llu", (ull)python->frame[place].line);
	}
	gmod_text_str(t, f->suspect_count > 1 ? ", or what ran beside it: " : ": ");
	title_corruption(f, t);
}

static void title_double_free(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_escaped(t, gmod_entry_point(f), 100);
	gmod_text_fmt(t, "(0x%llx) of a %llu-byte buffer that had %s", (ull)f->address, (ull)f->buffer.size,
		      f->buffer.ended ? "gone with its context" : "been freed");
}

static void title_invalid_free(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_escaped(t, gmod_entry_point(f), 100);
	if (f->buffer.base == f->address) {
		gmod_text_fmt(t, "(0x%llx) of a %llu-byte buffer that another call frees", (ull)f->address,
			      (ull)f->buffer.size);
		return;
	}
	gmod_text_fmt(t, "(0x%llx) of an address ", (ull)f->address);
	if (f->buffer.base)
		gmod_text_fmt(t, "%lld byte%s inside a %llu-byte buffer", (long long)f->offset,
			      gmod_plural((uint64_t)f->offset), (ull)f->buffer.size);
	else
		gmod_text_str(t, "that no allocation returned");
}

/* How the range asked for lies to the buffer: "96 bytes past the end". */
static void add_excess(struct gmod_text *t, const struct gmod_finding *f)
{
	uint64_t base = f->buffer.base, end = base + f->buffer.size, last;
	bool wraps = __builtin_add_overflow(f->address, f->length, &last);
	uint64_t past = last > end ? last - end : 0;

	if (f->address < base)
		gmod_text_fmt(t, "from %llu byte%s before the start", (ull)(base - f->address),
			      gmod_plural(base - f->address));
	else if (wraps)
		gmod_text_str(t, "past the end of all memory, in front of it the end");
	else
		gmod_text_fmt(t, "up to %llu byte%s past the end", (ull)past, gmod_plural(past));
}

static void title_out_of_bounds(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_escaped(t, gmod_entry_point(f), 100);
	gmod_text_fmt(t, " asked for %llu byte%s at 0x%llx, ", (ull)f->length, gmod_plural(f->length), (ull)f->address);
	add_excess(t, f);
	gmod_text_fmt(t, " of a %llu-byte buffer", (ull)f->buffer.size);
}

static void title_leak(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_fmt(t, "a %llu-byte buffer is still allocated at exit", (ull)f->buffer.size);
}

static void title_post_mortem(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_str(t, "the GPU gave up with ");
	gmod_error_text(t, f);
	if (f->entry_point) {
		gmod_text_str(t, ", first seen by ");
		gmod_text_escaped(t, f->entry_point, 100);
	}
}

/* What has happened. */
static void add_title(const struct gmod_report_view *v, struct gmod_text *t)
{
	const struct gmod_finding *f = v->finding;
	static void (*const by_class[GMOD_CLASS_COUNT])(const struct gmod_finding *f, struct gmod_text *t) = {
	    [GMOD_HEAP_BUFFER_OVERFLOW] = title_corruption,
	    [GMOD_HEAP_BUFFER_UNDERFLOW] = title_corruption,
	    [GMOD_USE_AFTER_FREE] = title_corruption,
	    [GMOD_DOUBLE_FREE] = title_double_free,
	    [GMOD_INVALID_FREE] = title_invalid_free,
	    [GMOD_API_OUT_OF_BOUNDS] = title_out_of_bounds,
	    [GMOD_LEAK] = title_leak,
	    [GMOD_POST_MORTEM] = title_post_mortem,
	};

	if (v->fault.raw)
		gmod_fault_title(t, &v->fault);
	else if (f->status == GMOD_CAUGHT)
		title_caught(v, t);
	else
		by_class[f->class](f, t);
}

/* ---- the command to run again ---- */

#define COMMAND_BYTES 1800

/* One word as a shell reads it back: plain, 'quoted', or $'with octal' where it would not be safe to look at. */
static void add_shell_word(struct gmod_text *t, const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	bool plain = true;

	for (const char *c = s; *c; c++)
		plain &= *c >= ' ' && *c <= '~';
	if (*s && !s[strspn(s, safe)]) {
		gmod_text_str(t, s);
		return;
	}
	gmod_text_str(t, plain ? "'" : "$'");
	for (; *s; s++) {
		if (plain && *s == '\'')
			gmod_text_str(t, "'\\''");
		else if (plain || (*s >= ' ' && *s <= '~' && *s != '\'' && *s != '\\'))
			gmod_text_bytes(t, s, 1);
		else
			gmod_text_fmt(t, "\\%03o", (unsigned char)*s);
	}
	gmod_text_str(t, "'");
}

/* A file of a process in /proc, ended by '\0'; returns its length, 0 where there is none. */
static size_t read_process(pid_t pid, const char *name, char *buffer, size_t cap)
{
	char path[48];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	n = gmod_read_file(path, buffer, cap - 1);
	n = n > 0 ? n : 0;
	buffer[n] = '\0';
	return (size_t)n;
}

/* From "PID (NAME) STATE PARENT": a name may hold anything. */
static pid_t parent_of(pid_t pid)
{
	char text[512], *name_end;

	read_process(pid, "stat", text, sizeof(text));
	name_end = strrchr(text, ')');
	return name_end ? atoi(name_end + 4) : 0;
}

/* It starts the processes of a job, and is the command to run again. */
static bool is_launcher(const char *arguments, size_t len)
{
	static const char *const names[] = {"torchrun", "torch.distributed.", "mpirun",
					    "mpiexec",  "accelerate",         "deepspeed"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (memmem(arguments, len, names[i], strlen(names[i])))
			return true;
	return false;
}

/* gmod and its options: the command is to run without. */
static const char *skip_gmod(const char *s)
{
	const char *slash = strrchr(s, '/'), *name = slash ? slash + 1 : s;

	if (strcmp(name, "gmod") != 0 && strcmp(name, "gmod-tensorflow") != 0)
		return s;
	do
		s += strlen(s) + 1;
	while (*s == '-' || strchr(s, '='));
	return s;
}

/*
 * The command that started this process, or the job that it is part of, each word as a shell reads it and behind a
 * blank; " ..." stands for what is too long to repeat. true: it is a job's.
 */
static bool add_command(struct gmod_text *t)
{
	static char arguments[COMMAND_BYTES], parents[COMMAND_BYTES]; /* of the one who tells */
	size_t len = read_process(getpid(), "cmdline", arguments, sizeof(arguments)), above;
	bool is_job = false, done = false;

	for (pid_t pid = getppid(); !done; pid = parent_of(pid)) {
		above = read_process(pid, "cmdline", parents, sizeof(parents));
		done = is_launcher(parents, above);
		/* Of Python's multiprocessing, or forked: it runs what its parent has begun. */
		if (!done && (!above || (!memmem(arguments, len, "from multiprocessing.", 21) &&
					 (len != above || memcmp(arguments, parents, len) != 0))))
			break;
		memcpy(arguments, parents, sizeof(parents));
		len = above;
		is_job = true;
	}
	if (len == 0)
		gmod_text_str(t, " PROGRAM");
	for (const char *s = arguments; s < arguments + len; s += strlen(s) + 1) {
		size_t before = t->len;

		s = skip_gmod(s);
		gmod_text_str(t, " ");
		add_shell_word(t, s);
		if (t->full || t->cap - t->len < 8 ||
		    (len == sizeof(arguments) - 1 && s + strlen(s) >= arguments + len)) {
			t->len = before;
			t->full = false;
			gmod_text_str(t, " ...");
			break;
		}
	}
	return is_job;
}

/* ---- what to do next, by class ---- */

/* Addresses differ from run to run: what stays is where the bytes lie in the buffer, and who allocates it. */
static void next_watchpoint(const struct gmod_report_view *v, struct gmod_text *t)
{
	const struct gmod_finding *f = v->finding;
	bool over = f->class == GMOD_HEAP_BUFFER_OVERFLOW;
	ull from_base = (ull)f->offset + (over ? f->buffer.size : 0);
	bool before = (int64_t)from_base < 0;

	gmod_text_fmt(t, "look for a write by the CPU, here to 0x%llx; in another run break where ",
		      f->buffer.base + from_base);
	gmod_text_str(t, strcmp(v->site, "-") == 0 ? "the program" : v->site);
	gmod_text_fmt(t, " has just allocated the buffer, and then watch *(char *)(BUFFER %c %llu): gdb --args",
		      before ? '-' : '+', before ? -from_base : from_base);
	gmod_text_str(t, v->command);
}

/*
 * The suspects' names, each once, as options that let compute-sanitizer look at these kernels alone; none where it
 * might then not look at the culprit. They are part of the mangled names, so a few more kernels than these may match.
 */
static void add_kernel_names(struct gmod_text *t, const struct gmod_report_view *v)
{
	const struct gmod_finding *f = v->finding;
	const char *kernel[GMOD_SUSPECTS_SHOWN];
	size_t len[GMOD_SUSPECTS_SHOWN];

	if (!gmod_has_all_suspects(f) || f->suspect_count > GMOD_SUSPECTS_SHOWN)
		return;
	for (uint32_t i = 0; i < f->suspect_count; i++)
		if (!(kernel[i] = gmod_kernel_substring(v->suspect[i], &len[i])))
			return;
	for (uint32_t i = 0, same; i < f->suspect_count; i++) {
		for (same = 0; len[same] != len[i] || memcmp(kernel[same], kernel[i], len[i]) != 0; same++)
			;
		if (same < i)
			continue;
		gmod_text_str(t, " --kernel-name kernel_substring=");
		gmod_text_bytes(t, kernel[i], len[i]);
	}
}

enum { ALIGN_MOST = 512, ALIGN_LEAST = 16 }; /* of option fence_align; the former is what it is by default */

/*
 * What finds the culprit. A fence, at the side that was passed and with the greatest alignment under which what was
 * changed reaches it: a run that by its counts had none for the buffer may have one, but for a range of a pool of the
 * program's own. Tensors are in stream order where that was asked for. Then memcheck, or a debugger for the CPU's.
 */
static void next_tools(const struct gmod_report_view *v, struct gmod_text *t)
{
	const struct gmod_finding *f = v->finding;
	const struct gmod_buffer_facts *b = &f->buffer;
	bool over = f->class == GMOD_HEAP_BUFFER_OVERFLOW, under = f->class == GMOD_HEAP_BUFFER_UNDERFLOW;
	uint64_t end = over ? (uint64_t)f->offset + f->extent : ALIGN_MOST, align = ALIGN_MOST;

	while (align >= ALIGN_LEAST && end <= (-b->size & (align - 1)))
		align /= 2;
	if (align >= ALIGN_LEAST && !v->fault.raw && b->memory == GMOD_MEM_DEVICE && !b->exported && !b->name &&
	    b->backend &&
	    (!strcmp(b->backend, "fence")
		 ? over || under
		 : !atomic_load_explicit(&gmod_counters.fenced, memory_order_relaxed) &&
		       !atomic_load_explicit(&gmod_counters.ordered_fenced, memory_order_relaxed) &&
		       !atomic_load_explicit(&gmod_counters.fence_capped, memory_order_relaxed) &&
		       !atomic_load_explicit(&gmod_counters.fence_spared, memory_order_relaxed))) {
		gmod_text_str(t, "gmod --exact");
		if (!strcmp(b->backend, "pool") && atomic_load_explicit(&gmod_hot.python, memory_order_relaxed))
			gmod_text_str(t, " --per-tensor");
		gmod_text_str(t, over ? " --fence_side=end" : under ? " --fence_side=start" : "");
		if (align < ALIGN_MOST)
			gmod_text_fmt(t, " --fence_align=%llu", (ull)align);
		gmod_text_str(t, v->command);
		gmod_text_str(t, "; or ");
	}
	if (f->suspect_count == 0 && f->launches_lost == 0 && !f->unknown_before_ns && gmod_cpu_may_write(f)) {
		next_watchpoint(v, t);
		return;
	}
	gmod_text_str(t, "compute-sanitizer --tool memcheck");
	add_kernel_names(t, v);
	gmod_text_str(t, v->is_of_job ? " --target-processes all" : "");
	gmod_text_str(t, v->command);
}

static void next_invalid_free(const struct gmod_finding *f, struct gmod_text *t)
{
	if (f->buffer.base == f->address)
		gmod_text_str(t, "free it with the counterpart of the call that allocated it");
	else if (f->buffer.base)
		gmod_text_fmt(t, "free the address that the allocation returned, 0x%llx", (ull)f->buffer.base);
	else
		gmod_text_str(
		    t, "look where the pointer comes from: uninitialised, of another process or library, or of a "
		       "pool that has a free function of its own");
}

/* One line without its end. The site and the names of the suspects are known. */
static void add_next_step(const struct gmod_report_view *v, struct gmod_text *t)
{
	const struct gmod_finding *f = v->finding;

	switch (f->class) {
	case GMOD_DOUBLE_FREE:
		gmod_text_str(t, f->buffer.ended ? "free it before cudaDeviceReset or the like ends its context"
						 : "let one of the two places own the buffer");
		gmod_text_str(t, "; the address may belong to another buffer by now");
		if (f->buffer.site_allocations > f->buffer.site_guarded || gmod_options()->sample_rate > 1)
			gmod_text_str(t, "; GMOD guards a sample, so the first free may be an earlier buffer's");
		break;
	case GMOD_INVALID_FREE:
		next_invalid_free(f, t);
		break;
	case GMOD_API_OUT_OF_BOUNDS:
		gmod_text_str(t, "compare the size given to ");
		gmod_text_escaped(t, gmod_entry_point(f), 100);
		gmod_text_str(t, " with the allocation's; the driver refused the call, so nothing was written");
		break;
	case GMOD_LEAK:
		gmod_text_str(t, "free it");
		break;
	case GMOD_POST_MORTEM:
		if (gmod_options()->faults == GMOD_OPTION_FAULTS_OFF) {
			gmod_text_str(t, "gmod --exact");
			gmod_text_str(t, v->command);
			break;
		}
		next_tools(v, t);
		break;
	default:
		if (v->fault.raw && gmod_fault_next_step(t, &v->fault))
			break;
		next_tools(v, t);
	}
}

/* ---- who did it ---- */

static void name_stack(struct gmod_frames *frames, const struct gmod_stack *stack, struct gmod_view_scratch *s)
{
	gmod_symbolize(frames, stack, &s->symbols);
	for (uint32_t i = 0; i < frames->depth; i++)
		gmod_short_name(frames->frame[i].symbol, frames->frame[i].function, GMOD_SHORT_NAME_MAX);
}

/* In nearly every stack of a program, or none. */
static bool is_outermost(const char *function)
{
	return !*function || *function == '<' || !strcmp(function, "main");
}

/* The first function further out that has another name, or "". */
static const char *caller_of(const struct gmod_frames *site, const char *function)
{
	const struct gmod_frame *f = gmod_site_frame(site), *end = site->frame + site->depth;

	for (uint64_t i = 1; site->python && i < site->python->depth; i++)
		if (strcmp(site->python->frame[i].function, function) != 0)
			return site->python->frame[i].function;
	for (; !site->python && f < end; f++)
		if (gmod_is_program_frame(f) && strcmp(f->function, function) != 0)
			return f->function;
	return "";
}

/*
 * The site's function, "make_vector" of "make_vector demo+0x17b1", and its caller, or the kernel where it is the only
 * suspect: an allocator's name alone would cover what it allocates for all others. Main, a module, or the "<module>" of
 * a Python file would cover the whole program: there it is the site as it is, for this build, or the error of a
 * post-mortem. Of a fault it is the kernel.
 */
static void add_suppression(const struct gmod_report_view *v, const struct gmod_frames *site, struct gmod_text *t)
{
	const struct gmod_finding *f = v->finding;
	const struct gmod_frame *frame = gmod_site_frame(site);
	const char *error = f->error_name;
	const char *whole = f->class != GMOD_POST_MORTEM ? v->site : error ? error : "-";
	const char *function = site->python ? site->python->frame->function : frame ? frame->function : "";
	const char *second = "";
	size_t before;

	gmod_text_fmt(t, "%s:", v->class_name);
	before = t->len;
	if (v->fault.raw) {
		gmod_text_escaped(t, v->fault.kernel, GMOD_NAME_SHOWN);
	} else if (is_outermost(function)) {
		gmod_text_str(t, strcmp(whole, "-") != 0 ? whole : "");
	} else {
		gmod_text_escaped(t, function, GMOD_NAME_SHOWN);
		second = caller_of(site, function);
		if (is_outermost(second) && f->suspect_count == 1 && gmod_has_all_suspects(f))
			second = v->suspect[0];
	}
	if (!is_outermost(second)) {
		gmod_text_str(t, " && ");
		gmod_text_escaped(t, second, GMOD_NAME_SHOWN);
	}
	if (t->len == before || strchr(t->at + before, '\\') || strstr(t->at + before, "..."))
		gmod_text_init(t, t->at, t->cap); /* it would not match */
}

static uint64_t hash_site(const struct gmod_report_view *v, const struct gmod_frames *frames)
{
	uint64_t h = gmod_hash_bytes(GMOD_HASH_START, v->class_name, strlen(v->class_name));

	if (v->fault.raw)
		return gmod_fault_site_hash(h, v->fault.raw);
	for (uint32_t i = 0; i < frames->depth; i++) {
		const struct gmod_frame *f = &frames->frame[i];

		h = gmod_hash_bytes(h, f->module, strlen(f->module));
		if (f->module[0]) /* the address of generated code differs from run to run */
			h = gmod_hash_bytes(h, &f->offset, sizeof(f->offset));
	}
	for (uint64_t i = 0; frames->python && i < frames->python->depth; i++) {
		const struct gmod_python_frame *f = &frames->python->frame[i];

		h = gmod_hash_bytes(gmod_hash_bytes(h, f->file, strlen(f->file)), f->function, strlen(f->function));
		h = gmod_hash_bytes(h, &f->line, sizeof(f->line));
	}
	return frames->depth > 0 ? h : 0;
}

void gmod_view_site(struct gmod_view_scratch *s, const struct gmod_stack *stack, char *site, size_t cap)
{
	name_stack(&s->one, stack, s);
	gmod_describe_site(&s->one, site, cap);
}

static void describe_nearby(struct gmod_report_view *v, const struct gmod_finding *f, struct gmod_view_scratch *s)
{
	for (uint32_t i = 0; i < f->nearby_count; i++)
		gmod_view_site(s, &f->nearby[i].allocated_at, v->nearby_site[i], sizeof(v->nearby_site[i]));
}

void gmod_view_make(struct gmod_report_view *v, const struct gmod_finding *f, struct gmod_view_scratch *s)
{
	const struct gmod_frames *allocated = &v->stack[GMOD_ALLOCATED];
	const struct gmod_frames *site = gmod_site_is_call(f) ? &v->stack[GMOD_CALLED] : allocated;
	struct gmod_text t;

	v->finding = f;
	v->class_name = gmod_class_name(f->class);
	v->now_ns = gmod_clock_ns(CLOCK_REALTIME);
	name_stack(&v->stack[GMOD_ALLOCATED], &f->buffer.allocated_at, s);
	name_stack(&v->stack[GMOD_FREED], &f->buffer.freed_at, s);
	name_stack(&v->stack[GMOD_CALLED], &f->called_at, s);
	v->fault.raw = NULL;
	if (f->class == GMOD_GPU_FAULT)
		gmod_fault_view(&v->fault, f);
	v->site_hash = hash_site(v, site);
	/* As lib/buffers/backend_fence.c makes it of a stack. */
	v->place = allocated->depth || allocated->python ? GMOD_HASH_START : 0;
	for (uint32_t i = 0; i < allocated->depth && !allocated->python; i++)
		if (allocated->frame[i].module[0])
			v->place = gmod_hash_bytes(v->place, &allocated->frame[i].offset, sizeof(uint64_t));
	for (uint64_t i = 0; allocated->python && i < allocated->python->depth; i++)
		v->place = gmod_hash_bytes(v->place, &allocated->python->frame[i].line, sizeof(uint64_t));
	describe_nearby(v, f, s);
	for (uint32_t i = 0; i < f->suspect_count; i++)
		gmod_short_name(f->suspect[i].name ? f->suspect[i].name : "", v->suspect[i], GMOD_SHORT_NAME_MAX);
	gmod_describe_site(site, v->site, sizeof(v->site));
	gmod_text_init(&t, v->suppression, sizeof(v->suppression));
	add_suppression(v, site, &t);
	if (v->fault.raw || f->class == GMOD_POST_MORTEM) {
		gmod_text_init(&t, v->site, sizeof(v->site));
		if (v->fault.raw)
			gmod_fault_site_text(&t, &v->fault);
		else
			gmod_text_escaped(&t, f->error_name ? f->error_name : "-", 100);
		gmod_text_mark_cut(&t);
	}
	gmod_text_init(&t, v->command, sizeof(v->command));
	v->is_of_job = add_command(&t);
	gmod_text_init(&t, v->gpu, sizeof(v->gpu));
	if (f->buffer.base)
		gmod_text_gpu(&t, f->buffer.device);
	gmod_text_init(&t, v->title, sizeof(v->title));
	add_title(v, &t);
	gmod_text_init(&t, v->next_step, sizeof(v->next_step));
	add_next_step(v, &t);
	gmod_text_mark_cut(&t);
}
