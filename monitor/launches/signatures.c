#include "monitor/launches/signatures.h"

#include "monitor/launches/history.h"

static gmod_histories signatures;

/* Each launch reads it, and nothing else is to be written on its cache line. */
_Alignas(128) _Atomic uint64_t gmod_signature_changes;

static const struct gmod_signature *signature_in(const struct gmod_kept *kept)
{
	return kept ? (const struct gmod_signature *)(const void *)kept->bytes : NULL;
}

static void changed(void)
{
	/* release: who sees the change finds what it was */
	atomic_fetch_add_explicit(&gmod_signature_changes, 1, memory_order_release);
}

void gmod_signature_expect(uint64_t handle, bool is_kernel, uint64_t module)
{
	const struct gmod_signature unasked = {.count = GMOD_SIGNATURE_UNASKED, .is_kernel = is_kernel};
	uint64_t had = 0;

	/* Programs ask for the same function again and again. */
	if (gmod_history_at(signatures, handle, GMOD_LATEST, &had) && had == module)
		return;
	gmod_history_add(signatures, handle, gmod_keep(&unasked, sizeof(unasked)), module);
	changed();
}

void gmod_signature_expect_as(uint64_t function, uint64_t kernel)
{
	uint64_t module = 0;

	if (gmod_history_at(signatures, kernel, GMOD_LATEST, &module))
		gmod_signature_expect(function, false, module);
}

const struct gmod_signature *gmod_signature_keep(const struct gmod_signature *s)
{
	return signature_in(gmod_keep(s, gmod_signature_size(s->count)));
}

void gmod_signature_learn(uint64_t handle, const struct gmod_signature *s)
{
	uint64_t module = 0;

	gmod_history_at(signatures, handle, GMOD_LATEST, &module);
	gmod_history_add(signatures, handle, s ? gmod_keep(s, gmod_signature_size(s->count)) : NULL, module);
	changed();
}

void gmod_signatures_end(uint64_t module, uint64_t ticks)
{
	gmod_history_end(signatures, module, ticks);
	changed();
}

const struct gmod_signature *gmod_signature_of(uint64_t handle)
{
	return signature_in(gmod_history_at(signatures, handle, GMOD_LATEST, NULL));
}
