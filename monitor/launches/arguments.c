#include "monitor/launches/arguments.h"

#include "lib/base/map.h"

/* Who reads them meanwhile finds out that they were overwritten, which ThreadSanitizer cannot know. */
#if defined(__SANITIZE_THREAD__)
#define BYTE_BY_BYTE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BYTE_BY_BYTE 1
#endif
#endif

#ifdef BYTE_BY_BYTE
__attribute__((noinline, no_sanitize("thread"))) static void copy(volatile char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
}
#else
static void copy(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
}
#endif

void gmod_argument_copy(_Atomic uint64_t *to, unsigned offset, const void *from, size_t size)
{
	copy((char *)to + offset, from, size);
}

/* ---- the thread's own side ---- */

static struct gmod_arguments *make(struct gmod_thread *t)
{
	struct gmod_arguments *a = gmod_map(sizeof(*a));

	/* release: it is empty for who looks */
	atomic_store_explicit(&t->arguments, a, memory_order_release);
	return a;
}

static void remember(struct gmod_arguments *a, uint64_t function, const struct gmod_signature_now *now)
{
	if (a->changes != now->changes)
		memset(a->here, 0, sizeof(a->here));
	a->changes = now->changes;
	*gmod_signature_place(a, function) = (struct gmod_signature_here){function, now->signature};
}

static bool reaches(const struct gmod_signature *signature, size_t size)
{
	const struct gmod_parameter *last = signature->count ? &signature->at[signature->count - 1] : NULL;

	return !last || (size_t)last->offset + last->size <= size;
}

static void copy_from_buffer(_Atomic uint64_t *to, const struct gmod_signature *signature, const char *buffer)
{
	for (int i = 0; i < signature->count; i++)
		gmod_argument_copy(to, signature->at[i].offset, buffer + signature->at[i].offset,
				   signature->at[i].size);
}

void gmod_arguments_note(struct gmod_thread *t, uint64_t function, const struct gmod_signature_now *now,
			 void *const *params, const void *buffer, size_t size)
{
	const struct gmod_signature *signature = now->signature;
	struct gmod_arguments *a = atomic_load_explicit(&t->arguments, memory_order_relaxed);

	if (!a && !(a = make(t)))
		return;
	remember(a, function, now);
	if (signature && (params || !signature->count))
		gmod_arguments_copy(t, a, signature, params);
	else if (signature && buffer && reaches(signature, size))
		copy_from_buffer(gmod_arguments_begin(t, a, signature), signature, buffer);
	else
		gmod_arguments_unknown(t, a);
}

const _Atomic uint64_t *gmod_arguments_latest(const struct gmod_thread *t, const struct gmod_signature **signature)
{
	const struct gmod_arguments *a = atomic_load_explicit(&t->arguments, memory_order_relaxed);
	uint64_t n = atomic_load_explicit(&t->launches, memory_order_relaxed) - 1;
	const struct gmod_argument_record *r = a ? &a->record[n % GMOD_RING] : NULL;

	*signature = r ? atomic_load_explicit(&r->signature, memory_order_relaxed) : NULL;
	if (!*signature)
		return NULL;
	return &a->bytes[atomic_load_explicit(&r->position, memory_order_relaxed) % GMOD_ARGUMENT_BYTES / 8];
}

/* ---- who asks ---- */

struct gmod_pointer gmod_pointer_judge(uint64_t word, const struct gmod_target *target)
{
	struct gmod_pointer p = gmod_points_away;

	p.address = word;
	if (word - target->base < target->size)
		p.pointing = GMOD_POINTS_AT;
	else if (target->changed - word <= GMOD_NEAR)
		p.pointing = GMOD_POINTS_NEAR;
	if (p.pointing != GMOD_POINTS_AWAY && word <= target->changed)
		p.distance = target->changed - word;
	return p;
}

struct gmod_pointer gmod_arguments_find(const struct gmod_thread *t, uint64_t number, const struct gmod_target *target)
{
	const struct gmod_arguments *a = atomic_load_explicit(&t->arguments, memory_order_acquire);
	const struct gmod_argument_record *r = a ? &a->record[number % GMOD_RING] : NULL;
	const struct gmod_signature *signature = r ? atomic_load_explicit(&r->signature, memory_order_relaxed) : NULL;
	uint64_t position = r ? atomic_load_explicit(&r->position, memory_order_relaxed) : 0;
	struct gmod_pointer best, found;
	const _Atomic uint64_t *words;

	if (!signature || !target->base || position % GMOD_ARGUMENT_BYTES + signature->bytes > GMOD_ARGUMENT_BYTES)
		return gmod_points_unknown;
	words = &a->bytes[position % GMOD_ARGUMENT_BYTES / 8];
	best = signature->is_cut ? gmod_points_unknown : gmod_points_away;
	for (int i = 0; i < signature->count; i++) {
		const struct gmod_parameter *p = &signature->at[i];

		/* Pointers are aligned in a parameter as they are in memory. */
		for (unsigned word = (p->offset + 7U) / 8; word < (p->offset + p->size) / 8U; word++) {
			found = gmod_pointer_judge(atomic_load_explicit(&words[word], memory_order_relaxed), target);
			found.argument = p->number;
			found.byte = word * 8 - p->offset;
			if (gmod_points_better(&found, &best))
				best = found;
		}
	}
	/* acquire fence: what was read was not overwritten if neither has passed it */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&a->end, memory_order_relaxed) - position > GMOD_ARGUMENT_BYTES ||
	    atomic_load_explicit(&t->launches, memory_order_relaxed) - number >= GMOD_RING)
		return gmod_points_unknown;
	return best;
}
