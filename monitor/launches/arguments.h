/*
 * What a thread's latest launches had as arguments, for who asks which of them pointed at a buffer.
 *
 *     launch N ── signature of its function ──► record[N % GMOD_RING]: signature, position ──► bytes[position ...]
 *
 * A launch finds its function's signature (monitor/launches/signatures.h) in a cache of the thread's own, and copies
 * what the parameters of 8 bytes and more say into a ring of bytes; what was there is gone. That is done before the
 * driver is called, and before the launch has its number. The thread writes; a reader copies and then looks whether
 * that was overwritten meanwhile: the number of launches, and the end of what is written, are each passed before
 * anything under them is changed.
 */
#ifndef GMOD_MONITOR_LAUNCHES_ARGUMENTS_H
#define GMOD_MONITOR_LAUNCHES_ARGUMENTS_H

#include <string.h>

#include "lib/base/hash.h"
#include "monitor/launches/signatures.h"
#include "monitor/launches/thread.h"
#include "monitor/registry/finding.h"

/* BYTES of a thread: 256 for each launch that has a record, or 16 times what is read of the largest parameters. */
enum { GMOD_ARGUMENT_BYTES = 1 << 16, GMOD_SIGNATURE_BITS = 8, GMOD_SIGNATURES = 1 << GMOD_SIGNATURE_BITS };

struct gmod_arguments {
	uint64_t changes;     /* gmod_signature_changes, of the signatures here; the thread's own, as they are */
	_Atomic uint64_t end; /* so many bytes were ever taken, the latest are there */
	struct gmod_signature_here {
		uint64_t function;                      /* 0: nobody's place */
		const struct gmod_signature *signature; /* NULL: it is not known */
	} here[GMOD_SIGNATURES];
	struct gmod_argument_record {
		_Atomic(const struct gmod_signature *) signature; /* NULL: the arguments are not known */
		_Atomic uint64_t position;
	} record[GMOD_RING];
	_Alignas(64) _Atomic uint64_t bytes[GMOD_ARGUMENT_BYTES / 8];
};

static inline struct gmod_signature_here *gmod_signature_place(struct gmod_arguments *a, uint64_t function)
{
	return &a->here[gmod_hash(function) >> (64 - GMOD_SIGNATURE_BITS)];
}

/* One argument of more than 8 bytes. */
void gmod_argument_copy(_Atomic uint64_t *to, unsigned offset, const void *from, size_t size);

/* Where the arguments of the thread's next launch go, `bytes` of them in one piece. */
static inline __attribute__((always_inline)) _Atomic uint64_t *
gmod_arguments_begin(struct gmod_thread *t, struct gmod_arguments *a, const struct gmod_signature *signature)
{
	uint64_t n = atomic_load_explicit(&t->launches, memory_order_relaxed);
	uint64_t position = atomic_load_explicit(&a->end, memory_order_relaxed);
	uint64_t left = GMOD_ARGUMENT_BYTES - position % GMOD_ARGUMENT_BYTES;

	if (__builtin_expect(signature->bytes > left, 0))
		position += left;
	atomic_store_explicit(&a->end, position + signature->bytes, memory_order_relaxed);
	/* release fence: who reads any of what follows finds that the end has passed it */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&a->record[n % GMOD_RING].signature, signature, memory_order_relaxed);
	atomic_store_explicit(&a->record[n % GMOD_RING].position, position, memory_order_relaxed);
	return &a->bytes[position % GMOD_ARGUMENT_BYTES / 8];
}

static inline __attribute__((always_inline)) void gmod_arguments_copy(struct gmod_thread *t, struct gmod_arguments *a,
								      const struct gmod_signature *signature,
								      void *const *params)
{
	_Atomic uint64_t *to = gmod_arguments_begin(t, a, signature);

	for (int i = 0; params && i < signature->count; i++) {
		const struct gmod_parameter *p = &signature->at[i];
		uint64_t word;

		if (__builtin_expect(p->size == 8 && p->offset % 8 == 0, 1)) {
			memcpy(&word, params[p->number], 8);
			atomic_store_explicit(&to[p->offset / 8], word, memory_order_relaxed);
		} else {
			gmod_argument_copy(to, p->offset, params[p->number], p->size);
		}
	}
}

/* Nothing is known of the arguments of the thread's next launch. */
static inline void gmod_arguments_unknown(struct gmod_thread *t, struct gmod_arguments *a)
{
	uint64_t n = atomic_load_explicit(&t->launches, memory_order_relaxed);

	/* release fence: who reads this in the place of an old record finds that the count has passed it */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&a->record[n % GMOD_RING].signature, NULL, memory_order_relaxed);
}

/*
 * The arguments of the thread's next launch, as the program has them. false: nothing is written; gmod_arguments_note()
 * does what is rare.
 */
static inline __attribute__((always_inline)) bool gmod_arguments_take(struct gmod_thread *t, uint64_t function,
								      void *const *params)
{
	struct gmod_arguments *a = atomic_load_explicit(&t->arguments, memory_order_relaxed);
	const struct gmod_signature_here *here = a ? gmod_signature_place(a, function) : NULL;

	if (__builtin_expect(!here || here->function != function ||
				 a->changes != atomic_load_explicit(&gmod_signature_changes, memory_order_relaxed),
			     0))
		return false;
	if (__builtin_expect(!here->signature || (!params && here->signature->count), 0))
		gmod_arguments_unknown(t, a);
	else
		gmod_arguments_copy(t, a, here->signature, params);
	return true;
}

/*
 * The same for what is rare: the thread's first launch or the function's first one here, or all arguments in one buffer
 * of `size` bytes. params and buffer NULL: there are none.
 */
struct gmod_signature_now {
	const struct gmod_signature *signature; /* NULL: the arguments are not known */
	uint64_t changes;                       /* gmod_signature_changes, loaded with acquire before that was found */
};
void gmod_arguments_note(struct gmod_thread *t, uint64_t function, const struct gmod_signature_now *now,
			 void *const *params, const void *buffer, size_t size);

/*
 * In the thread: the arguments of its latest launch, as the signature says that they lie, and what is between them may
 * be anything. NULL: they are not known, nor is the signature.
 */
const _Atomic uint64_t *gmod_arguments_latest(const struct gmod_thread *t, const struct gmod_signature **signature);

/*
 * A mark: a bit of so many by an address, for those launches whose arguments are gone (monitor/launches/kernels.h).
 */
enum { GMOD_MARK_WORDS = 2, GMOD_MARKS = GMOD_MARK_WORDS * 64 };
static inline unsigned gmod_mark_of(uint64_t address)
{
	return (unsigned)(gmod_hash(address) >> 57);
}
_Static_assert(GMOD_MARKS == 1 << 7, "a mark by the highest bits of a hash");

/* ---- who asks ---- */

static inline bool gmod_may_be_address(uint64_t word)
{
	return word >> 32 && !(word >> 48);
}

/* What is looked for: the buffer, and the lowest of the bytes that were changed. */
struct gmod_target {
	uint64_t base, size, changed; /* base 0: nothing is */
};

/* Nothing is known of the arguments; and all of them are, and none points there. */
static const struct gmod_pointer gmod_points_unknown = {.pointing = GMOD_POINTS_UNKNOWN, .distance = GMOD_NO_IDEA};
static const struct gmod_pointer gmod_points_away = {.pointing = GMOD_POINTS_AWAY, .distance = UINT64_MAX};

/* Where it points. */
struct gmod_pointer gmod_pointer_judge(uint64_t word, const struct gmod_target *target);

/* Does a say more than b? */
static inline bool gmod_points_better(const struct gmod_pointer *a, const struct gmod_pointer *b)
{
	return a->pointing != b->pointing ? a->pointing < b->pointing : a->distance < b->distance;
}

/* The best that there is among the arguments of a thread's launch of that number. */
struct gmod_pointer gmod_arguments_find(const struct gmod_thread *t, uint64_t number, const struct gmod_target *target);

#endif
