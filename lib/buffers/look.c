#include "lib/buffers/look.h"

#include <string.h>

#include "lib/base/facts.h"
#include "lib/buffers/pages.h"

typedef uint8_t place[GMOD_LOOK_BYTES];
enum { PLACES = GMOD_LOOKS + GMOD_LOOKS_LIVING };

static atomic_flag making = ATOMIC_FLAG_INIT;

static bool is_there(const struct gmod_context *c)
{
	/* acquire: the pages were set before */
	return atomic_load_explicit(&c->looks.life, memory_order_acquire) == gmod_context_life(c);
}

static place *places_of(const struct gmod_context *c)
{
	return c->looks.pages;
}

static void make(struct gmod_context *c)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();

	if (!c->looks.pages)
		c->looks.pages = gmod_pages(PLACES * sizeof(place));
	if (c->looks.pages && gmod_pages_register(c->looks.pages, PLACES * sizeof(place), CU_MEMHOSTREGISTER_PORTABLE))
		atomic_store_explicit(&c->looks.life, gmod_context_life(c), memory_order_release);
	else
		gmod_degraded("pinned memory for looks");
	gmod_relaxed_end(mode);
}

/* Whoever comes while another thread makes them goes without. */
bool gmod_look_room(struct gmod_context *c)
{
	if (is_there(c) || atomic_flag_test_and_set_explicit(&making, memory_order_acquire))
		return is_there(c);
	if (!is_there(c))
		make(c);
	atomic_flag_clear_explicit(&making, memory_order_release);
	return is_there(c);
}

static size_t length_of(const struct gmod_look *l)
{
	return l->to - l->from < GMOD_LOOK_BYTES ? l->to - l->from : GMOD_LOOK_BYTES;
}

void gmod_look_repeat(uint32_t word, uint8_t *bytes)
{
	for (size_t i = 0; i < GMOD_LOOK_BYTES; i += sizeof(word))
		memcpy(bytes + i, &word, sizeof(word));
}

bool gmod_look_ask(const struct gmod_context *c, unsigned i, const struct gmod_look *look, CUstream stream)
{
	uint8_t *to;

	if (!is_there(c))
		return false;
	to = places_of(c)[i];
	gmod_look_repeat(~look->filled, to);
	return NEXT(cuMemcpyDtoHAsync_v2)(to, look->from, length_of(look), stream) == CUDA_SUCCESS;
}

CUevent gmod_event_behind(CUstream stream)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	CUevent e = NULL;

	if (NEXT(cuEventCreate)(&e, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
	    NEXT(cuEventRecord)(e, stream) != CUDA_SUCCESS) {
		NEXT(cuEventDestroy_v2)(e);
		e = NULL;
	}
	gmod_relaxed_end(mode);
	return e;
}

/* The stream may be the default one of the context that is current. */
void gmod_look_precede(const struct gmod_context *c, CUstream stream)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool visited = gmod_context_visit_begin(c);
	CUevent asked = gmod_event_behind(c->stream);

	gmod_context_visit_end(visited);
	if (!asked || NEXT(cuStreamWaitEvent)(stream, asked, 0) != CUDA_SUCCESS) {
		gmod_degraded("coming behind a look");
		NEXT(cuStreamSynchronize)(c->stream);
	}
	/* Waits for it that are in a stream stay. */
	if (asked)
		NEXT(cuEventDestroy_v2)(asked);
	gmod_relaxed_end(mode);
}

enum gmod_look_answer gmod_look_answer(const struct gmod_context *c, unsigned i, const struct gmod_look *look,
				       uint8_t *bytes, struct gmod_diff *diff)
{
	const volatile uint8_t *from = places_of(c)[i];
	uint8_t expected[GMOD_LOOK_BYTES];
	size_t n = length_of(look);

	/* The device writes there. */
	for (size_t k = 0; k < n; k++)
		bytes[k] = from[k];
	gmod_look_repeat(~look->filled, expected);
	if (!memcmp(bytes, expected, n))
		return GMOD_LOOK_COMES;
	gmod_look_repeat(look->filled, expected);
	*diff = (struct gmod_diff){0};
	return gmod_bytes_compare(expected, look->from, look->from + n, bytes, diff) ? GMOD_LOOK_INTACT
										     : GMOD_LOOK_CHANGED;
}
