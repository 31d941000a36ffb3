#include "lib/base/trail.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/peek.h"

/* Where a call leaves its return address next to the caller's frame. */
#if defined(__x86_64__)
#define REPEATS true
#else
#define REPEATS false
#endif

enum { SETS = 256, WAYS = 4, SPAN = 16384 /* bytes */, ROOMS = 8 };

static struct kept {
	atomic_flag taken; /* nobody waits for it */
	struct gmod_trail trail;
} known[SETS][WAYS];
static _Atomic unsigned turn;

/* For a piece of the stack, of which the thread may not have much. */
static struct room {
	atomic_flag taken;
	uintptr_t words[SPAN / sizeof(uintptr_t)];
} rooms[ROOMS];
static atomic_bool blind; /* there is no looking at the stack */

static struct kept *set_of(const struct gmod_trail *t)
{
	return known[gmod_hash(t->from) / (UINT64_MAX / SETS + 1)];
}

static void copy(struct gmod_trail *to, const struct gmod_trail *from)
{
	memcpy(to, from, offsetof(struct gmod_trail, frame) + from->frames * sizeof(*from->frame));
}

/*
 * The place is where x86-64 has the return address. That of the first call of the unwinder lies below `from`, and is
 * left out: the call comes after the trail's beginning.
 */
void gmod_trail_note(struct gmod_trail *t, uintptr_t place, uintptr_t pc, bool interrupted)
{
	uintptr_t at = place - t->from, last = t->frames ? t->frame[t->frames - 1].at : 0;

	if (!t->frames && place < t->from)
		return;
	t->repeats = t->repeats && !interrupted && at > last && at <= SPAN - sizeof(place) && at % sizeof(place) == 0 &&
		     t->frames < GMOD_TRAIL_MAX;
	if (!t->repeats)
		return;
	t->frame[t->frames].at = at;
	t->frame[t->frames++].pc = pc;
}

static struct room *take_room(void)
{
	for (struct room *r = rooms; r < rooms + ROOMS; r++)
		/* acquire: whoever had it is done with it, as with trails below */
		if (!atomic_flag_test_and_set_explicit(&r->taken, memory_order_acquire))
			return r;
	return NULL;
}

static bool is_there_still(const struct gmod_trail *t, struct room *room)
{
	size_t n = t->frame[t->frames - 1].at + sizeof(*room->words);
	ssize_t got = gmod_peek(t->from, room->words, n);

	if (got < 0 && got != -EFAULT)
		atomic_store_explicit(&blind, true, memory_order_relaxed);
	for (unsigned i = 0; i < t->frames && got == (ssize_t)n; i++)
		if (room->words[t->frame[i].at / sizeof(*room->words)] != t->frame[i].pc)
			return false;
	return got == (ssize_t)n;
}

static bool recall(struct gmod_trail *t, struct room *room)
{
	struct kept *set = set_of(t);
	bool found = false;

	for (struct kept *k = set; k < set + WAYS && !found; k++) {
		if (atomic_flag_test_and_set_explicit(&k->taken, memory_order_acquire))
			continue;
		found = k->trail.from == t->from && k->trail.depth == t->depth && is_there_still(&k->trail, room);
		if (found)
			copy(t, &k->trail);
		atomic_flag_clear_explicit(&k->taken, memory_order_release);
	}
	return found;
}

bool gmod_trail_begin(struct gmod_trail *t, uintptr_t from, unsigned depth)
{
	struct room *room = atomic_load_explicit(&blind, memory_order_relaxed) ? NULL : take_room();
	bool found;

	t->from = from;
	t->depth = depth;
	t->frames = 0;
	t->repeats = REPEATS;
	found = room && recall(t, room);
	if (room)
		atomic_flag_clear_explicit(&room->taken, memory_order_release);
	return found;
}

void gmod_trail_keep(const struct gmod_trail *t)
{
	struct kept *k = &set_of(t)[atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % WAYS];

	if (!t->repeats || !t->frames || atomic_flag_test_and_set_explicit(&k->taken, memory_order_acquire))
		return;
	copy(&k->trail, t);
	atomic_flag_clear_explicit(&k->taken, memory_order_release);
}
