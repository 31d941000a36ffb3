#include "monitor/report/json.h"

#include <string.h>

#include "lib/base/log.h"

/*
 * One object a line; the members are the same in every line of one event, null where nothing is known. Addresses are
 * strings, because many readers keep numbers as doubles. Members are only ever added under one schema name.
 */

#define NAME_SHOWN 1024
#define PARAMETERS_SHOWN 256

typedef unsigned long long ull;

/* "key": with the comma before it where it is not the first member of its object. */
static void add_key(struct gmod_text *t, const char *key)
{
	char before = t->len > 0 ? t->at[t->len - 1] : '{';

	gmod_text_str(t, before == '{' ? "\"" : ",\"");
	gmod_text_str(t, key);
	gmod_text_str(t, "\":");
}

static void add_string(struct gmod_text *t, const char *key, const char *value)
{
	add_key(t, key);
	gmod_text_json(t, value, NAME_SHOWN);
}

static void add_number(struct gmod_text *t, const char *key, int64_t value)
{
	add_key(t, key);
	gmod_text_fmt(t, "%lld", (long long)value);
}

static void add_count(struct gmod_text *t, const char *key, uint64_t value)
{
	add_key(t, key);
	gmod_text_fmt(t, "%llu", (ull)value);
}

static void add_known_count(struct gmod_text *t, const char *key, bool known, uint64_t value)
{
	add_key(t, key);
	gmod_text_fmt(t, known ? "%llu" : "null", (ull)value);
}

static void add_address(struct gmod_text *t, const char *key, bool known, uint64_t value)
{
	add_key(t, key);
	gmod_text_fmt(t, known ? "\"0x%llx\"" : "null", (ull)value);
}

/* NULL: not known. */
static void add_three(struct gmod_text *t, const char *key, const uint32_t *n)
{
	add_key(t, key);
	if (n)
		gmod_text_fmt(t, "[%u,%u,%u]", n[0], n[1], n[2]);
	else
		gmod_text_str(t, "null");
}

static void add_bool(struct gmod_text *t, const char *key, bool value)
{
	add_key(t, key);
	gmod_text_str(t, value ? "true" : "false");
}

static void add_time(struct gmod_text *t, const char *key, uint64_t ns)
{
	add_key(t, key);
	gmod_text_stamp(t, ns);
}

/* The object, or null; to be closed if it is there. */
static bool open_object(struct gmod_text *t, const char *key, bool there)
{
	add_key(t, key);
	gmod_text_str(t, there ? "{" : "null");
	return there;
}

/* One more element of an array, begun with '[' or '{'. */
static void open_element(struct gmod_text *t)
{
	gmod_text_str(t, t->len > 0 && t->at[t->len - 1] == '[' ? "{" : ",{");
}

/* An array, begun by `before`. */
static void add_python(struct gmod_text *t, const char *before, const struct gmod_python *python)
{
	gmod_text_str(t, before);
	for (uint64_t i = 0; python && i < python->depth; i++) {
		open_element(t);
		add_string(t, "function", python->frame[i].function);
		add_string(t, "file", python->frame[i].file);
		add_count(t, "line", python->frame[i].line);
		gmod_text_str(t, "}");
	}
	gmod_text_str(t, "]");
}

static void add_frames(struct gmod_text *t, const struct gmod_frames *frames)
{
	add_python(t, ",\"python\":[", frames->python);
	gmod_text_str(t, ",\"frames\":[");
	for (uint32_t i = 0; i < frames->depth; i++) {
		const struct gmod_frame *f = &frames->frame[i];

		if (gmod_is_interpreter(frames, i))
			continue;
		open_element(t);
		add_string(t, "module", f->module[0] ? f->module : NULL);
		add_string(t, "path", f->path[0] ? f->path : NULL);
		add_string(t, "build_id", f->build_id[0] ? f->build_id : NULL);
		add_address(t, "offset", true, f->offset);
		add_string(t, "function", f->function[0] ? f->function : NULL);
		add_string(t, "symbol", f->symbol[0] ? f->symbol : NULL);
		gmod_text_str(t, "}");
	}
	gmod_text_str(t, "]");
}

static void add_extent(struct gmod_text *t, const struct gmod_buffer_facts *b)
{
	static const char *const memory[] = {"device", "managed", "pinned", "kernel"};

	add_address(t, "base", true, b->base);
	add_count(t, "size", b->size);
	add_number(t, "device", b->device);
	add_string(t, "memory", b->memory <= GMOD_MEM_KERNEL ? memory[b->memory] : NULL);
	add_string(t, "backend", b->backend);
	if (b->name && *b->name)
		add_string(t, "name", b->name);
	if (b->exported)
		add_bool(t, "exported", true);
	add_count(t, "allocation", b->serial);
}

static void add_kernel_thread(struct gmod_text *t, const struct gmod_kernel_thread *k)
{
	if (!k->known)
		return;
	add_count(t, "kernel_block", k->block);
	add_count(t, "kernel_thread", k->thread);
}

static void add_moment(struct gmod_text *t, const char *key, uint64_t ns, int64_t tid,
		       const struct gmod_kernel_thread *by, const struct gmod_frames *frames)
{
	open_object(t, key, true);
	add_time(t, "time", ns);
	add_number(t, "thread", tid);
	add_kernel_thread(t, by);
	add_frames(t, frames);
	gmod_text_str(t, "}");
}

static void add_buffer(struct gmod_text *t, const struct gmod_report_view *v)
{
	const struct gmod_buffer_facts *b = &v->finding->buffer;
	const struct gmod_kernel_thread nobody = {false, 0, 0};

	if (!open_object(t, "buffer", b->base))
		return;
	add_extent(t, b);
	add_count(t, "site_allocations", b->site_allocations);
	add_count(t, "site_guarded", b->site_guarded);
	add_key(t, "fence_site");
	gmod_text_fmt(t, v->place ? "\"0x%llx\"" : "null", (ull)v->place);
	add_moment(t, "allocated", b->allocated_ns, b->allocated_tid, &b->allocated_by, &v->stack[GMOD_ALLOCATED]);
	if (b->freed_ns)
		add_moment(t, "freed", b->freed_ns, b->freed_tid, &nobody, &v->stack[GMOD_FREED]);
	else
		add_string(t, "freed", NULL);
	gmod_text_str(t, "}");
}

static void add_bytes(struct gmod_text *t, const char *key, const uint8_t *bytes, uint32_t count, uint32_t max)
{
	add_key(t, key);
	gmod_text_str(t, "\"");
	for (uint32_t i = 0; i < count && i < max; i++)
		gmod_text_fmt(t, "%02x", bytes[i]);
	gmod_text_str(t, "\"");
}

static void add_corruption(struct gmod_text *t, const struct gmod_finding *f)
{
	if (!open_object(t, "corruption", gmod_is_corruption(f->class)))
		return;
	add_number(t, "offset", f->offset);
	add_count(t, "changed", f->changed);
	add_count(t, "extent", f->extent);
	add_bytes(t, "observed", f->observed, f->observed_count, GMOD_OBSERVED_MAX);
	add_bytes(t, "expected", f->expected, f->observed_count, GMOD_OBSERVED_MAX);
	add_bool(t, "restored", f->restored);
	if (f->front_size) {
		add_count(t, "past_front", f->past_front);
		add_count(t, "front_size", f->front_size);
	}
	add_time(t, "intact", f->intact_ns);
	add_time(t, "seen", f->seen_ns);
	gmod_text_str(t, "}");
}

static void add_call(struct gmod_text *t, const struct gmod_report_view *v)
{
	const struct gmod_finding *f = v->finding;

	if (!open_object(t, "call", f->entry_point || v->stack[GMOD_CALLED].depth > 0))
		return;
	add_string(t, "entry_point", f->entry_point);
	add_address(t, "address", true, v->fault.raw ? 0 : f->address); /* a fault's is no argument of the call */
	add_count(t, "length", v->fault.raw ? 0 : f->length);
	add_number(t, "thread", f->called_tid);
	add_kernel_thread(t, &f->called_by);
	add_number(t, "error", f->error);
	add_string(t, "error_name", f->error_name);
	add_frames(t, &v->stack[GMOD_CALLED]);
	gmod_text_str(t, "}");
}

static void add_lines(struct gmod_text *t, const struct gmod_fault_view *v)
{
	gmod_text_str(t, ",\"lines\":[");
	for (unsigned i = 0; i < v->raw->lines; i++) {
		open_element(t);
		add_string(t, "file", v->line[i].file);
		add_count(t, "line", v->raw->at[i].line);
		add_string(t, "function", *v->line[i].function ? v->line[i].function : NULL);
		gmod_text_str(t, "}");
	}
	gmod_text_str(t, "]");
}

static void add_fault(struct gmod_text *t, const struct gmod_fault_view *v)
{
	static const char *const access[] = {"load", "store", "atomic"};
	static const char *const relation[] = {"none", "past-end", "before-start", "inside"};
	const struct gmod_fault *fault = v->raw;
	const struct gmod_finding *f = v->finding;

	if (!open_object(t, "fault", fault))
		return;
	add_string(t, "kind", v->kind);
	add_count(t, "driver_kind", fault->driver_kind);
	add_string(t, "kernel", fault->kernel ? v->kernel : NULL);
	add_string(t, "symbol", fault->kernel);
	add_string(t, "function", fault->function ? v->function : NULL);
	add_address(t, "offset", fault->has_pc, fault->offset);
	add_address(t, "pc", fault->has_pc, fault->pc);
	add_key(t, "instruction");
	gmod_text_fmt(t, fault->has_instruction ? "[\"0x%016llx\",\"0x%016llx\"]" : "null", (ull)fault->instruction[0],
		      (ull)fault->instruction[1]);
	add_string(t, "access", fault->has_operand ? access[fault->operand.access] : NULL);
	add_known_count(t, "bytes", fault->has_operand, fault->operand.bytes);
	add_address(t, "address", v->has_address, f->address);
	add_string(t, "relation", v->has_address ? relation[f->related] : NULL);
	add_known_count(t, "distance", v->has_address && f->related != GMOD_NOT_RELATED, v->distance);
	add_lines(t, v);
	add_three(t, "grid", fault->has_grid ? fault->grid : NULL);
	add_three(t, "block_size", fault->has_grid ? fault->block_size : NULL);
	add_three(t, "block", v->lane ? fault->block : NULL);
	add_three(t, "thread", v->lane ? v->lane->thread : NULL);
	add_count(t, "warps", fault->warps);
	add_count(t, "threads", fault->lane_count);
	add_count(t, "places", fault->places);
	add_count(t, "launched_tid", fault->launched_tid);
	add_bytes(t, "parameters", fault->parameters.at, (uint32_t)fault->parameters.size, PARAMETERS_SHOWN);
	add_count(t, "capability", fault->capability);
	gmod_text_str(t, "}");
}

static void add_pointer(struct gmod_text *t, const struct gmod_pointer *p, bool tells)
{
	static const char *const words[] = {"buffer", "maybe", "near", "unknown", "none"};

	if (!open_object(t, "arguments", tells))
		return;
	add_string(t, "point", p->pointing <= GMOD_POINTS_AWAY ? words[p->pointing] : NULL);
	if (p->pointing == GMOD_POINTS_AT || p->pointing == GMOD_POINTS_NEAR) {
		add_count(t, "argument", p->argument);
		add_count(t, "byte", p->byte);
		add_address(t, "address", true, p->address);
		if (p->distance != UINT64_MAX)
			add_count(t, "distance", p->distance);
	}
	gmod_text_str(t, "}");
}

static void add_suspect(struct gmod_text *t, const char *name, const struct gmod_suspect *s, bool tells, int places)
{
	open_element(t);
	add_string(t, "kernel", s->name ? name : NULL);
	add_string(t, "symbol", s->name);
	add_count(t, "launches", s->launches);
	add_count(t, "unfinished", s->unfinished);
	add_time(t, "first", s->first_ns);
	add_time(t, "launched", s->launched_ns);
	add_address(t, "stream", s->stream != GMOD_SEVERAL_STREAMS, s->stream);
	add_address(t, "graph", s->graph, s->graph);
	add_three(t, "grid", s->grid);
	add_three(t, "block", s->block);
	add_pointer(t, &s->pointer, tells);
	add_python(t, ",\"python\":[", gmod_python_stack(s->python[0]));
	gmod_text_str(t, ",\"python_elsewhere\":[");
	for (int i = 1; i < places && gmod_python_stack(s->python[i]); i++)
		add_python(t, i > 1 ? ",[" : "[", gmod_python_stack(s->python[i]));
	gmod_text_str(t, "]}");
}

static void add_some_suspects(struct gmod_text *t, const struct gmod_report_view *v, uint32_t from, uint32_t to)
{
	gmod_text_str(t, ",\"suspects\":[");
	for (uint32_t i = from; i < to; i++)
		add_suspect(t, v->suspect[i], &v->finding->suspect[i], gmod_arguments_tell(v->finding),
			    from ? 1 : GMOD_PLACES_MAX);
	gmod_text_str(t, "]");
}

static void add_suspects(struct gmod_text *t, const struct gmod_report_view *v)
{
	const struct gmod_finding *f = v->finding;

	add_some_suspects(t, v, 0, gmod_suspects_shown(f));
	add_count(t, "suspects_total", f->suspect_count + f->suspects_omitted);
	add_count(t, "suspects_omitted", f->suspects_omitted);
	add_count(t, "launches_lost", f->launches_lost);
	add_time(t, "unknown_before", f->unknown_before_ns);
}

static void add_nearby(struct gmod_text *t, const struct gmod_report_view *v)
{
	if (v->finding->nearby_given)
		add_string(t, "nearby_given", v->finding->nearby_given == GMOD_GIVEN ? "arguments" : "launches");
	gmod_text_str(t, ",\"nearby\":[");
	for (uint32_t i = 0; i < v->finding->nearby_count; i++) {
		open_element(t);
		add_extent(t, &v->finding->nearby[i]);
		if (v->finding->nearby[i].freed_ns)
			add_bool(t, "freed", true);
		add_string(t, "site", v->nearby_site[i]);
		gmod_text_str(t, "}");
	}
	gmod_text_str(t, "]");
}

/* What the SUMMARY line says: enough to tell findings apart. */
static void add_head(struct gmod_text *t, const struct gmod_report_view *v)
{
	const struct gmod_finding *f = v->finding;

	gmod_log_event(t, "finding");
	add_number(t, "id", f->id);
	add_string(t, "status", gmod_status_word(f->status));
	if (f->status == GMOD_CAUGHT)
		add_count(t, "caught", f->caught);
	add_string(t, "class", v->class_name);
	add_time(t, "time", v->now_ns);
	add_key(t, "command");
	gmod_text_json(t, v->command + 1, sizeof(v->command));
	add_key(t, "site_hash");
	gmod_text_fmt(t, v->site_hash ? "\"%016llx\"" : "null", (ull)v->site_hash);
	if (f->buffer.base) {
		add_number(t, "device", f->buffer.device);
		add_string(t, "gpu", v->gpu[0] ? v->gpu : NULL);
		add_count(t, "size", f->buffer.size);
		add_number(t, "offset", f->offset);
	} else {
		gmod_text_str(t, ",\"device\":null,\"gpu\":null,\"size\":null,\"offset\":null");
	}
	add_string(t, "site", v->site);
	add_string(t, "message", v->title);
}

/*
 * The suspects that the line of the finding has no room for, a few a line: what keeps a container's log splits lines
 * of more than 16 KiB. Each with one place where it was launched.
 */
static void add_lines_of_suspects(struct gmod_text *t, const struct gmod_report_view *v)
{
	const struct gmod_finding *f = v->finding;

	for (uint32_t i = gmod_suspects_shown(f); i < f->suspect_count; i += GMOD_SUSPECTS_SHOWN) {
		uint32_t left = f->suspect_count - i;

		gmod_log_event(t, "suspects");
		add_number(t, "id", f->id);
		add_string(t, "status", gmod_status_word(f->status));
		add_count(t, "from", i);
		add_some_suspects(t, v, i, i + (left < GMOD_SUSPECTS_SHOWN ? left : GMOD_SUSPECTS_SHOWN));
		gmod_text_str(t, "}\n");
	}
}

void gmod_report_json(const struct gmod_report_view *v, struct gmod_text *t)
{
	add_head(t, v);
	add_buffer(t, v);
	add_corruption(t, v->finding);
	add_fault(t, &v->fault);
	add_call(t, v);
	add_suspects(t, v);
	add_nearby(t, v);
	add_key(t, "next_step");
	gmod_text_json(t, v->next_step, sizeof(v->next_step));
	add_string(t, "suppression", v->suppression[0] ? v->suppression : NULL);
	gmod_text_str(t, "}\n");
	add_lines_of_suspects(t, v);
}

void gmod_report_json_stack(struct gmod_text *t, const struct gmod_stack *stack)
{
	static struct gmod_symbol_scratch scratch;
	static struct gmod_frames frames;

	gmod_symbolize(&frames, stack, &scratch);
	add_frames(t, &frames);
}

void gmod_report_json_site(struct gmod_text *t, const struct gmod_stack *stack, struct gmod_view_scratch *scratch)
{
	char site[512];

	gmod_view_site(scratch, stack, site, sizeof(site));
	add_string(t, "site", site);
	add_frames(t, &scratch->one);
}
