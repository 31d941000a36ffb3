#include "monitor/report/title.h"

typedef unsigned long long ull;

const char *gmod_provisional_words(const struct gmod_finding *f)
{
	return f->status == GMOD_PROVISIONAL ? ", provisional, still being watched" : "";
}

const char *gmod_entry_point(const struct gmod_finding *f)
{
	return f->entry_point ? f->entry_point : "a driver call";
}

void gmod_error_text(struct gmod_text *t, const struct gmod_finding *f)
{
	if (f->error_name)
		gmod_text_escaped(t, f->error_name, 100);
	else
		gmod_text_str(t, "error");
	gmod_text_fmt(t, " (%d)", f->error);
}

void gmod_title_corruption(const struct gmod_finding *f, struct gmod_text *t)
{
	bool over = f->class == GMOD_HEAP_BUFFER_OVERFLOW;
	uint64_t away = f->offset < 0 ? -(uint64_t)f->offset : (uint64_t)f->offset;

	gmod_text_fmt(t, "%llu byte%s changed, %llu byte%s %s of a %llu-byte buffer", (ull)f->changed,
		      gmod_plural(f->changed), (ull)away, gmod_plural(away), over ? "past the end" : "before the start",
		      (ull)f->buffer.size);
}

void gmod_title_use_after_free(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_fmt(t, "%llu byte%s changed, %llu byte%s inside a %llu-byte buffer that had been freed",
		      (ull)f->changed, gmod_plural(f->changed), (ull)f->offset, gmod_plural((uint64_t)f->offset),
		      (ull)f->buffer.size);
}

void gmod_title_double_free(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_escaped(t, gmod_entry_point(f), 100);
	gmod_text_fmt(t, "(0x%llx) of a %llu-byte buffer that had been freed", (ull)f->address, (ull)f->buffer.size);
}

void gmod_title_invalid_free(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_escaped(t, gmod_entry_point(f), 100);
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

void gmod_title_out_of_bounds(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_escaped(t, gmod_entry_point(f), 100);
	gmod_text_fmt(t, " asked for %llu byte%s at 0x%llx, ", (ull)f->length, gmod_plural(f->length), (ull)f->address);
	add_excess(t, f);
	gmod_text_fmt(t, " of a %llu-byte buffer", (ull)f->buffer.size);
}

void gmod_title_leak(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_fmt(t, "a %llu-byte buffer is still allocated at exit", (ull)f->buffer.size);
}

void gmod_title_post_mortem(const struct gmod_finding *f, struct gmod_text *t)
{
	gmod_text_str(t, "the GPU gave up with ");
	gmod_error_text(t, f);
	if (f->entry_point) {
		gmod_text_str(t, ", first seen by ");
		gmod_text_escaped(t, f->entry_point, 100);
	}
	if (f->address)
		gmod_text_fmt(t, ", at address 0x%llx", (ull)f->address);
}
