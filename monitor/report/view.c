#include "monitor/report/view.h"

#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "monitor/report/demangle.h"
#include "monitor/report/title.h"

/* The runtime that is linked into the program, and the driver's functions where they have a stub there. */
static bool is_cuda_symbol(const char *s)
{
	size_t prefix = strncmp(s, "cuda", 4) == 0 ? 4 : strncmp(s, "cu", 2) == 0 ? 2 : 0;

	return strncmp(s, "__cudart", 8) == 0 || strncmp(s, "libcudart_static_", 17) == 0 ||
	       (prefix > 0 && s[prefix] >= 'A' && s[prefix] <= 'Z');
}

static bool is_program_frame(const struct gmod_frame *f)
{
	static const char *const other[] = {"libcuda.so", "libcudart.so", "libgmod.so"};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (strncmp(f->module, other[i], strlen(other[i])) == 0)
			return false;
	return f->module[0] && !is_cuda_symbol(f->symbol);
}

/* "main app+0x8b01" for the innermost frame of the program itself, "-" if there is none. */
static void describe_site(const struct gmod_frames *frames, char *out, size_t cap)
{
	struct gmod_text t;

	gmod_text_init(&t, out, cap);
	for (uint32_t i = 0; i < frames->depth; i++) {
		if (!is_program_frame(&frames->frame[i]))
			continue;
		gmod_frame_text(&t, &frames->frame[i], " ");
		gmod_text_mark_cut(&t);
		return;
	}
	gmod_text_str(&t, "-");
}

static uint64_t hash_site(const char *class, const struct gmod_frames *frames)
{
	uint64_t h = gmod_hash_bytes(GMOD_HASH_START, class, strlen(class));

	for (uint32_t i = 0; i < frames->depth; i++) {
		const struct gmod_frame *f = &frames->frame[i];

		h = gmod_hash_bytes(h, f->module, strlen(f->module));
		if (f->module[0]) /* the address of generated code differs from run to run */
			h = gmod_hash_bytes(h, &f->offset, sizeof(f->offset));
	}
	return frames->depth > 0 ? h : 0;
}

int64_t gmod_summary_offset(const struct gmod_finding *f)
{
	uint64_t end = f->buffer.base + f->buffer.size;

	if (f->class != GMOD_API_OUT_OF_BOUNDS)
		return f->offset;
	if (f->address < f->buffer.base) /* the first byte outside, as for a corruption */
		return (int64_t)(f->address - f->buffer.base);
	return f->address > end ? (int64_t)(f->address - end) : 0;
}

static void describe_nearby(struct gmod_report_view *v, const struct gmod_finding *f, struct gmod_view_scratch *s)
{
	v->nearby_count = f->nearby_count < GMOD_NEARBY_MAX ? f->nearby_count : GMOD_NEARBY_MAX;
	for (uint32_t i = 0; i < v->nearby_count; i++) {
		gmod_symbolize(&s->one, &f->nearby[i].allocated_at, &s->symbols);
		describe_site(&s->one, v->nearby_site[i], sizeof(v->nearby_site[i]));
	}
}

void gmod_view_make(struct gmod_report_view *v, const struct gmod_finding *f, struct gmod_view_scratch *s)
{
	const struct gmod_frames *site = gmod_site_stack(f) == &f->called_at ? &v->called : &v->allocated;
	struct gmod_text t;

	v->finding = f;
	v->class = gmod_class_row(f->class);
	v->class_name = gmod_class_name(f->class);
	v->status_words = gmod_provisional_words(f);
	v->corruption = gmod_is_corruption(f->class);
	v->now_ns = gmod_clock_ns(CLOCK_REALTIME);
	v->offset = gmod_summary_offset(f);
	gmod_symbolize(&v->allocated, &f->buffer.allocated_at, &s->symbols);
	gmod_symbolize(&v->freed, &f->buffer.freed_at, &s->symbols);
	gmod_symbolize(&v->called, &f->called_at, &s->symbols);
	v->site_hash = hash_site(v->class_name, site);
	describe_nearby(v, f, s);
	for (uint32_t i = 0; i < f->suspect_count && i < GMOD_SUSPECTS_MAX; i++)
		gmod_short_name(f->suspect[i].name ? f->suspect[i].name : "", v->suspect[i], GMOD_SHORT_NAME_MAX);
	describe_site(site, v->site, sizeof(v->site));
	if (f->class == GMOD_POST_MORTEM) {
		gmod_text_init(&t, v->site, sizeof(v->site));
		gmod_text_escaped(&t, f->error_name ? f->error_name : "-", 100);
	}
	gmod_text_init(&t, v->title, sizeof(v->title));
	v->class->title(f, &t);
	gmod_text_init(&t, v->next_step, sizeof(v->next_step));
	v->class->next_step(f, v->site, &t);
	gmod_text_mark_cut(&t);
}
