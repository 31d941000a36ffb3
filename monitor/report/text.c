#include "monitor/report/text.h"

#include <string.h>
#include <unistd.h>

#include "include/gmod.h"
#include "lib/base/log.h"
#include "lib/base/origin.h"

#define LINE_BYTES 4000 /* with the newline within PIPE_BUF, so that one write puts it into a pipe whole */

typedef unsigned long long ull;

static void add_kernel_thread(struct gmod_text *t, const char *what, const struct gmod_kernel_thread *k)
{
	if (k->known)
		gmod_text_fmt(t, "%s in thread %u of block %llu of a kernel", what, k->thread, (ull)k->block);
}

/* " 1.204 s ago by thread 4711" */
static void add_ago(struct gmod_text *t, const char *what, uint64_t ns, uint64_t now_ns, int64_t tid)
{
	uint64_t us = now_ns > ns ? (now_ns - ns) / 1000 : 0;

	gmod_text_fmt(t, "%s %llu.%06u s ago by thread %lld", what, (ull)(us / 1000000), (unsigned)(us % 1000000),
		      (long long)tid);
}

/* Lines in the making: the next one ends the one before. */
struct page {
	struct gmod_text line;
	struct gmod_text *out;
	char buffer[LINE_BYTES];
};

static void end_line(struct page *p)
{
	gmod_text_mark_cut(&p->line);
	gmod_text_bytes(p->out, p->line.at, p->line.len);
	gmod_text_str(p->out, "\n");
}

static struct gmod_text *begin(struct page *p, const char *indent)
{
	if (p->line.at)
		end_line(p);
	gmod_text_init(&p->line, p->buffer, sizeof(p->buffer));
	gmod_text_str(&p->line, indent);
	return &p->line;
}

static void add_python(struct page *p, const char *indent, const struct gmod_python *python)
{
	for (uint64_t i = 0; python && i < python->depth; i++)
		gmod_python_text(begin(p, indent), &python->frame[i]);
}

static void add_frames(struct page *p, const struct gmod_frames *frames)
{
	uint32_t number = 0;

	add_python(p, "      at ", frames->python);
	for (uint32_t i = 0; i < frames->depth; i++) {
		if (!(frames->shown >> i & 1))
			continue;
		gmod_text_fmt(begin(p, "      "), "#%u ", number++);
		gmod_frame_text(&p->line, &frames->frame[i], "  ");
		gmod_text_escaped(&p->line, frames->frame[i].lines, LINE_BYTES);
	}
}

static void add_first_line(struct page *p, const struct gmod_report_view *v)
{
	bool bold = gmod_log_is_bold();
	struct gmod_text *t = begin(p, bold ? "\033[1m" : "");

	gmod_text_fmt(t, "==%d==GMOD: %s: ", (int)getpid(), v->class_name);
	gmod_text_str(t, v->title);
	gmod_text_fmt(t, " [finding %u%s]", v->finding->id,
		      v->finding->status == GMOD_PROVISIONAL ? ", provisional, a final report follows"
		      : v->finding->status == GMOD_CAUGHT    ? ", caught"
							     : "");
	gmod_text_str(t, bold ? "\033[0m" : "");
}

static void add_extent(struct gmod_text *t, const struct gmod_buffer_facts *b)
{
	static const char *const where[] = {"on", "in managed memory on", "in pinned host memory for",
					    "from mallocN on"};
	ull end = b->base + b->size;

	gmod_text_fmt(t, "[0x%llx, 0x%llx) %s device %d, backend ", (ull)b->base, end,
		      where[b->memory <= GMOD_MEM_KERNEL ? b->memory : GMOD_MEM_DEVICE], b->device);
	gmod_text_escaped(t, b->backend, 40);
	if (b->serial)
		gmod_text_fmt(t, ", allocation #%llu", (ull)b->serial);
	if (b->name && *b->name) {
		gmod_text_str(t, ", named ");
		gmod_text_json(t, b->name, GMOD_NAME_SHOWN);
	}
}

static void add_buffer(struct page *p, const struct gmod_report_view *v)
{
	const struct gmod_buffer_facts *b = &v->finding->buffer;
	struct gmod_text *t;

	if (!b->base)
		return;
	t = begin(p, "    buffer ");
	add_extent(t, b);
	if (b->allocated_ns)
		add_ago(t, ", allocated", b->allocated_ns, v->now_ns, b->allocated_tid);
	add_kernel_thread(t, ", allocated by mallocN", &b->allocated_by);
	if (b->site_allocations != b->site_guarded)
		gmod_text_fmt(t, ", one of a sample: %llu of %llu allocations there", (ull)b->site_guarded,
			      (ull)b->site_allocations);
	if (v->place)
		gmod_text_fmt(t, ", fence site 0x%llx", (ull)v->place);
	add_frames(p, &v->stack[GMOD_ALLOCATED]);
	if (!b->freed_ns)
		return;
	t = begin(p, b->ended                                ? "    freed with its context"
		     : v->finding->class == GMOD_DOUBLE_FREE ? "    first freed"
							     : "    freed");
	add_ago(t, "", b->freed_ns, v->now_ns, b->freed_tid);
	add_frames(p, &v->stack[GMOD_FREED]);
}

static void add_call(struct page *p, const struct gmod_report_view *v)
{
	const struct gmod_finding *f = v->finding;
	struct gmod_text *t;

	if (!f->entry_point && v->stack[GMOD_CALLED].depth == 0)
		return;
	t = begin(p, f->class == GMOD_DOUBLE_FREE ? "    freed again by " : "    called: ");
	gmod_text_escaped(t, gmod_entry_point(f), 100);
	add_kernel_thread(t, "", &f->called_by);
	if (f->called_by.known)
		return;
	gmod_text_fmt(t, " in thread %lld; the program got ", (long long)f->called_tid);
	if (f->error == 0)
		gmod_text_str(t, "CUDA_SUCCESS (0)");
	else
		gmod_error_text(t, f);
	add_frames(p, &v->stack[GMOD_CALLED]);
}

/* What is 1 at its end is left out. */
static void add_dimensions(struct gmod_text *t, const uint32_t n[3], const char *what)
{
	gmod_text_fmt(t, "%u", n[0]);
	if (n[1] > 1 || n[2] > 1)
		gmod_text_fmt(t, " x %u", n[1]);
	if (n[2] > 1)
		gmod_text_fmt(t, " x %u", n[2]);
	gmod_text_fmt(t, " %s%s", what, gmod_plural((uint64_t)n[0] * n[1] * n[2]));
}

static void add_fault(struct page *p, const struct gmod_fault_view *v)
{
	const struct gmod_fault *fault = v->raw;

	gmod_fault_kernel_text(begin(p, "    in kernel "), v);
	for (unsigned i = 1; i < fault->lines; i++)
		gmod_fault_line_text(begin(p, "      inlined at "), v, i);
	if (fault->has_pc)
		gmod_fault_instruction_text(begin(p, "    instruction "), v);
	gmod_fault_thread_text(begin(p, "    "), v);
	if (fault->has_grid) {
		add_dimensions(begin(p, "    grid of "), fault->grid, "block");
		gmod_text_str(&p->line, " of ");
		add_dimensions(&p->line, fault->block_size, "thread");
		if (fault->launched_tid)
			gmod_text_fmt(&p->line, ", launched by thread %u", fault->launched_tid);
	}
	if (v->has_address)
		gmod_text_fmt(begin(p, "    address "), "0x%llx", (ull)v->finding->address);
	begin(p, "    the program's context is lost, as it would be without GMOD");
	if (fault->driver_kind)
		gmod_text_fmt(&p->line, " (exception %u of the driver)", fault->driver_kind);
}

static void add_times(struct page *p, const struct gmod_finding *f)
{
	struct gmod_text *t = begin(p, "    written ");

	gmod_text_str(t, f->intact_ns ? "between " : "before ");
	if (f->intact_ns) {
		gmod_text_clock(t, f->intact_ns);
		gmod_text_str(t, " (last seen intact) and ");
	}
	gmod_text_clock(t, f->seen_ns);
	gmod_text_str(t, " UTC");
}

static void add_bytes(struct gmod_text *t, const uint8_t *bytes, uint32_t n, bool more)
{
	for (uint32_t i = 0; i < n; i++)
		gmod_text_fmt(t, " %02x", bytes[i]);
	if (more)
		gmod_text_str(t, " ..");
}

static void add_changed_bytes(struct page *p, const struct gmod_finding *f)
{
	uint32_t n = f->observed_count < GMOD_OBSERVED_MAX ? f->observed_count : GMOD_OBSERVED_MAX;
	struct gmod_text *t = begin(p, "    changed bytes at ");

	gmod_text_fmt(t, "%+lld:", (long long)f->offset);
	add_bytes(t, f->observed, n, f->extent > n);
	gmod_text_str(t, ", where");
	add_bytes(t, f->expected, n, f->extent > n);
	gmod_text_str(t, " had been");
	if (f->extent > f->changed)
		gmod_text_fmt(t, " (%llu of %llu bytes)", (ull)f->changed, (ull)f->extent);
	if (f->restored)
		gmod_text_str(t, " (put back since)");
	if (f->front_size)
		gmod_text_fmt(begin(p, "    which is "),
			      "%llu byte%s past the end of the %llu-byte buffer in front of it", (ull)f->past_front,
			      gmod_plural(f->past_front), (ull)f->front_size);
}

/* Times are 0 where a launch is still in its call. */
static void add_other(struct gmod_suspect *s, const struct gmod_suspect *other)
{
	bool elsewhere = s->stream != other->stream || s->graph != other->graph;

	s->launches += other->launches;
	s->unfinished += other->unfinished;
	if (other->first_ns && (!s->first_ns || other->first_ns < s->first_ns))
		s->first_ns = other->first_ns;
	if (!other->launched_ns || (s->launched_ns && other->launched_ns > s->launched_ns))
		s->launched_ns = other->launched_ns;
	for (int place = 0; place < GMOD_PLACES_MAX; place++)
		gmod_note_place(s->python, other->python[place]);
	if (elsewhere) {
		s->stream = GMOD_SEVERAL_STREAMS;
		s->graph = 0;
	}
}

/*
 * Add all of the i-th one's name to *s, as far as it is told; false: an earlier one, which says more, has it. Where its
 * kernel is unknown it stands alone.
 */
static bool stands_for_all(const struct gmod_report_view *v, uint32_t i, struct gmod_suspect *s)
{
	for (uint32_t k = 0; k < gmod_suspects_shown(v->finding); k++) {
		if (k == i || !*v->suspect[i] || strcmp(v->suspect[i], v->suspect[k]) != 0)
			continue;
		if (k < i)
			return false;
		add_other(s, &v->finding->suspect[k]);
	}
	return true;
}

unsigned gmod_stream_number(uint64_t handle)
{
	enum { STREAMS = 1024 };
	static _Atomic uint64_t named[STREAMS];

	for (unsigned i = 0; i < STREAMS; i++) {
		uint64_t found = 0;

		if (atomic_compare_exchange_strong_explicit(&named[i], &found, handle, memory_order_relaxed,
							    memory_order_relaxed) ||
		    found == handle)
			return i + 1;
	}
	return 0;
}

static void add_stream(struct gmod_text *t, uint64_t stream)
{
	if (stream == GMOD_SEVERAL_STREAMS)
		gmod_text_str(t, "several streams");
	else if (stream <= 2) /* CU_STREAM_LEGACY, CU_STREAM_PER_THREAD */
		gmod_text_str(t, stream == 2 ? "the per-thread stream" : "the default stream");
	else
		gmod_text_fmt(t, "stream %u", gmod_stream_number(stream));
}

static void add_launch_times(struct gmod_text *t, const struct gmod_suspect *s)
{
	bool once = s->first_ns == s->launched_ns;

	if (s->first_ns) {
		gmod_text_str(t, once ? ", at " : ", from ");
		gmod_text_clock(t, s->first_ns);
	}
	if (s->launched_ns && !once) {
		gmod_text_str(t, " to ");
		gmod_text_clock(t, s->launched_ns);
	}
	if (!s->launched_ns)
		gmod_text_str(t, ", its call has not returned");
}

static void add_pointer(struct gmod_text *t, const struct gmod_suspect *s)
{
	const struct gmod_pointer *p = &s->pointer;
	static const char *const otherwise[] = {
	    [GMOD_POINTS_MAYBE] = ": an argument of it was the address of the buffer, or one that leaves the same mark",
	    [GMOD_POINTS_UNKNOWN] = ": its arguments are not known",
	    [GMOD_POINTS_AWAY] = ": no argument of it points there"};

	if (otherwise[p->pointing]) {
		gmod_text_str(t, otherwise[p->pointing]);
		return;
	}
	gmod_text_fmt(t, ": argument %u", p->argument);
	if (p->byte)
		gmod_text_fmt(t, " at byte %u", p->byte);
	if (p->pointing == GMOD_POINTS_AT)
		gmod_text_str(t, " points into the buffer");
	else
		gmod_text_fmt(t, " points %llu byte%s in front", (ull)p->distance, gmod_plural(p->distance));
}

static void add_suspect(struct gmod_text *t, const char *name, const struct gmod_suspect *s)
{
	gmod_text_escaped(t, *name ? name : "unknown", GMOD_NAME_SHOWN);
	gmod_text_fmt(t, " x%llu on ", (ull)s->launches);
	add_stream(t, s->stream);
	if (s->graph)
		gmod_text_fmt(t, " in graph 0x%llx", (ull)s->graph);
	if (s->unfinished)
		gmod_text_fmt(t, " (%llu not proven complete)", (ull)s->unfinished);
	add_launch_times(t, s);
	if (s->block[0]) {
		gmod_text_str(t, ", ");
		add_dimensions(t, s->grid, "block");
		gmod_text_str(t, " of ");
		add_dimensions(t, s->block, "thread");
	}
}

/* Where it was launched. */
static void add_places(struct page *p, const uint32_t *places)
{
	for (int i = 0; i < GMOD_PLACES_MAX && gmod_python_stack(places[i]); i++) {
		gmod_text_str(begin(p, "         "), i ? "also launched" : "launched");
		add_python(p, "           at ", gmod_python_stack(places[i]));
	}
}

/* What qualifies the suspects stands in front of them: who reads on knows that the list may lack the culprit. */
static void add_incomplete(struct page *p, const struct gmod_finding *f)
{
	uint64_t more = f->suspects_omitted + f->suspect_count - gmod_suspects_shown(f);
	struct gmod_text *t;

	if (gmod_has_all_suspects(f) && !more)
		return;
	t = begin(p, "    incomplete: ");
	if (more)
		gmod_text_fmt(t, "%llu more kernel%s under way and not listed here; ", (ull)more,
			      more == 1 ? " was" : "s were");
	if (f->launches_lost)
		gmod_text_fmt(t, "%llu launch%s of kernels that found no place to be counted; ", (ull)f->launches_lost,
			      f->launches_lost == 1 ? " was" : "es were");
	if (f->unknown_before_ns) {
		gmod_text_str(t, "kernels launched before ");
		gmod_text_clock(t, f->unknown_before_ns);
		gmod_text_str(t, " UTC may be missing; ");
	}
	if (f->buffer.exported)
		gmod_text_str(t, "another process, which imported the buffer, may have written; ");
	t->len -= strlen("; ");
}

static void add_no_suspects(struct gmod_text *t, const struct gmod_finding *f)
{
	if (f->launches_lost > 0 || f->unknown_before_ns)
		gmod_text_str(t, " none recorded");
	else if (!gmod_is_corruption(f->class))
		gmod_text_str(t, " none known");
	else if (gmod_cpu_may_write(f))
		gmod_text_str(t, " no kernel was in flight: look for a write by the CPU");
	else
		gmod_text_str(t,
			      " no kernel was in flight: look for a copy or memset, or a launch that GMOD cannot see");
}

/* One a line, the likeliest first. */
static void add_suspects(struct page *p, const struct gmod_report_view *v)
{
	const struct gmod_finding *f = v->finding;
	struct gmod_text *t;
	unsigned rank = 0;

	add_incomplete(p, f);
	t = begin(p, gmod_is_corruption(f->class) ? "    suspects:"
		     : *v->fault.kernel           ? "    launches of the kernel:"
						  : "    unfinished launches:");
	if (f->suspect_count == 0)
		add_no_suspects(t, f);
	for (uint32_t i = 0; i < gmod_suspects_shown(f); i++) {
		struct gmod_suspect s = f->suspect[i];

		if (!stands_for_all(v, i, &s))
			continue;
		gmod_text_fmt(t = begin(p, "      "), "%u. ", ++rank);
		add_suspect(t, v->suspect[i], &s);
		if (gmod_arguments_tell(f))
			add_pointer(t, &s);
		add_places(p, s.python);
	}
}

static void add_nearby(struct page *p, const struct gmod_report_view *v)
{
	static const char *const which[] = {[GMOD_GIVEN_UNKNOWN] = "live",
					    [GMOD_GIVEN] = "the kernel's arguments point into",
					    [GMOD_GIVEN_TO_LAUNCHES] = "its latest launches were given"};
	static const char *const what[] = {[GMOD_GIVEN_UNKNOWN] = "    live buffer: ",
					   [GMOD_GIVEN] = "    buffer of an argument: ",
					   [GMOD_GIVEN_TO_LAUNCHES] = "    buffer of a launch: "};
	const struct gmod_finding *f = v->finding;

	if (f->nearby_count && v->fault.raw)
		gmod_text_fmt(begin(p, "    "), "%s; those that %s, the latest first:",
			      v->fault.has_address ? "no buffer is near that address"
						   : "the address is not certain, and so no buffer is named",
			      which[f->nearby_given]);
	for (uint32_t i = 0; i < f->nearby_count; i++) {
		struct gmod_text *t = begin(p, what[f->nearby_given]);

		gmod_text_fmt(t, "%llu byte%s ", (ull)f->nearby[i].size, gmod_plural(f->nearby[i].size));
		add_extent(t, &f->nearby[i]);
		gmod_text_str(t, f->nearby[i].freed_ns ? ", freed since, by " : ", by ");
		gmod_text_str(t, v->nearby_site[i]);
	}
}

/* Of each module with frames shown the path and the build-id, once: what it takes to find their lines later. */
static void add_modules(struct page *p, const struct gmod_report_view *v)
{
	const struct gmod_frame *told[GMOD_STACKS * GMOD_STACK_MAX];
	uint32_t n = 0, same;

	for (int i = 0; i < GMOD_STACKS; i++)
		for (uint32_t k = 0; k < v->stack[i].depth; k++) {
			const struct gmod_frame *f = told[n] = &v->stack[i].frame[k];

			for (same = 0; strcmp(told[same]->path, f->path) != 0; same++)
				;
			if (!f->path[0] || same < n || !(v->stack[i].shown >> k & 1))
				continue;
			n++;
			gmod_text_escaped(begin(p, "    module "), f->path, GMOD_MODULE_PATH_MAX);
			gmod_text_fmt(&p->line, f->build_id[0] ? " build-id %s" : "%s", f->build_id);
		}
}

static void add_process(struct page *p, const struct gmod_report_view *v)
{
	struct gmod_text *t = begin(p, "    process: host ");

	gmod_text_escaped(t, gmod_origin.host, 64);
	gmod_text_fmt(t, *gmod_origin.rank ? ", rank %s" : "%s", gmod_origin.rank);
	if (v->gpu[0])
		gmod_text_fmt(t, ", device %d %s", v->finding->buffer.device, v->gpu);
	gmod_text_str(t, ", GMOD " GMOD_VERSION ", at ");
	gmod_text_date(t, v->now_ns, "-");
	gmod_text_str(t, " ");
	gmod_text_clock(t, v->now_ns);
	gmod_text_str(t, " UTC, command");
	gmod_text_str(t, v->command);
}

static void add_summary(struct page *p, const struct gmod_report_view *v)
{
	const struct gmod_finding *f = v->finding;
	struct gmod_text *t = begin(p, "SUMMARY: GMOD: ");

	gmod_text_fmt(t, "%s ", v->class_name);
	if (f->buffer.base)
		gmod_text_fmt(t, "device %d size %llu offset %+lld ", f->buffer.device, (ull)f->buffer.size,
			      (long long)f->offset);
	gmod_text_str(t, v->site);
	if (v->fault.raw && v->fault.raw->lines) {
		gmod_text_str(t, " at ");
		gmod_fault_line_text(t, &v->fault, gmod_fault_users_line(&v->fault));
	}
}

void gmod_report_text(const struct gmod_report_view *v, struct gmod_text *out)
{
	const struct gmod_finding *f = v->finding;
	struct page p = {.out = out};

	add_first_line(&p, v);
	if (v->fault.raw)
		add_fault(&p, &v->fault);
	add_buffer(&p, v);
	add_call(&p, v);
	if (gmod_is_corruption(f->class))
		add_times(&p, f);
	if (gmod_is_corruption(f->class) || f->class == GMOD_POST_MORTEM || v->fault.raw)
		add_suspects(&p, v);
	if (gmod_is_corruption(f->class))
		add_changed_bytes(&p, f);
	add_nearby(&p, v);
	add_process(&p, v);
	add_modules(&p, v);
	gmod_text_str(begin(&p, "    next step: "), v->next_step);
	if (v->suppression[0])
		gmod_text_str(begin(&p, "    or, for the file of suppressions: "), v->suppression);
	if (f->status == GMOD_FINAL)
		add_summary(&p, v);
	end_line(&p);
}
