#include "monitor/registry/index.h"

#include <stddef.h>

#include "lib/base/deadline.h"
#include "lib/base/map.h"

enum { UNIT_BITS = 9, GRANULE_BITS = 21, MIDDLE_BITS = 13, ROOT_BITS = 14, UNITS = 1 << (GRANULE_BITS - UNIT_BITS) };
enum { FAN_BITS = 4, LEVELS = 4, SLOTS = 288 + UNITS }; /* of a leaf; brothers share a line of the cache */
_Static_assert(UNITS == 1 << (FAN_BITS * (LEVELS - 1)), "the last level has the units");
_Static_assert(GMOD_DEVICE_ALIGNMENT == 1 << UNIT_BITS, "as buffers are spaced");
#define DIRECT ((uint64_t)1)

typedef _Atomic uint64_t granule_entry;
typedef _Atomic uint32_t leaf_slot; /* position + 1 */

static const unsigned first_slot[LEVELS] = {0, 16, 32, 288};

static _Atomic(granule_entry *) root[1 << ROOT_BITS];

/* Of the units [unit, end), the first ones as far as one slot can stand for them: that slot. */
static unsigned slot_from(unsigned unit, unsigned end, unsigned *count)
{
	unsigned level = LEVELS - 1;

	for (*count = 1; level && unit % (*count << FAN_BITS) == 0 && unit + (*count << FAN_BITS) <= end; level--)
		*count <<= FAN_BITS;
	return first_slot[level] + unit / *count;
}

/* NULL when memory is out. Several threads may find that it is missing: that of the first stays. */
static granule_entry *make_table(_Atomic(granule_entry *) *top)
{
	granule_entry *fresh = gmod_map(sizeof(granule_entry) << MIDDLE_BITS), *table = NULL;

	if (!fresh ||
	    atomic_compare_exchange_strong_explicit(top, &table, fresh, memory_order_acq_rel, memory_order_acquire))
		return fresh;
	munmap((void *)fresh, sizeof(granule_entry) << MIDDLE_BITS);
	return table;
}

/* The granule's entry; NULL: there is none and `make` is false, memory is out, or the index has none for the address.
 */
static granule_entry *entry_of(uint64_t address, bool make)
{
	uint64_t at = address >> (GRANULE_BITS + MIDDLE_BITS);
	granule_entry *table;

	if (at >> ROOT_BITS)
		return NULL;
	/* acquire: the table is zeroed for whoever sees the pointer */
	table = atomic_load_explicit(&root[at], memory_order_acquire);
	if (!table && make)
		table = make_table(&root[at]);
	return table ? &table[(address >> GRANULE_BITS) & ((1 << MIDDLE_BITS) - 1)] : NULL;
}

/* The leaf of a granule that has none yet. A DIRECT entry cannot be there: its buffer owns every page. */
static leaf_slot *make_leaf(granule_entry *entry)
{
	leaf_slot *fresh = gmod_map(sizeof(leaf_slot) * SLOTS);
	uint64_t value = 0;

	if (!fresh || atomic_compare_exchange_strong_explicit(entry, &value, (uint64_t)(uintptr_t)fresh,
							      memory_order_acq_rel, memory_order_acquire))
		return fresh;
	munmap((void *)fresh, sizeof(leaf_slot) * SLOTS);
	return value & DIRECT ? NULL : (leaf_slot *)(uintptr_t)value;
}

/* The units [first, end) of a granule. One that the buffer covers whole needs no leaf, if it has none yet. */
static bool enter_units(granule_entry *entry, unsigned first, unsigned end, uint32_t mine)
{
	uint64_t value = 0;
	leaf_slot *leaf;

	if (end - first < UNITS)
		value = atomic_load_explicit(entry, memory_order_acquire);
	else if (atomic_compare_exchange_strong_explicit(entry, &value, (uint64_t)mine << 1 | DIRECT,
							 memory_order_release, memory_order_acquire))
		return true;
	leaf = value && !(value & DIRECT) ? (leaf_slot *)(uintptr_t)value : make_leaf(entry);
	for (unsigned unit = first, count; leaf && unit < end; unit += count)
		/* release: the record behind a slot is complete */
		atomic_store_explicit(&leaf[slot_from(unit, end, &count)], mine, memory_order_release);
	return leaf != NULL;
}

bool gmod_index_insert(uint64_t from, uint64_t to, uint32_t position)
{
	uint64_t stop;

	for (uint64_t at = from; at < to; at = stop) {
		granule_entry *entry = entry_of(at, true);
		unsigned first = at / GMOD_DEVICE_ALIGNMENT % UNITS;

		stop = ((at >> GRANULE_BITS) + 1) << GRANULE_BITS;
		if (stop > to)
			stop = to;
		if (!entry || !enter_units(entry, first, first + (unsigned)((stop - at) >> UNIT_BITS), position + 1)) {
			gmod_index_remove(from, at, position);
			return false;
		}
	}
	return true;
}

/* Only what is ours: the pages may have been entered for their next buffer already. */
void gmod_index_remove(uint64_t from, uint64_t to, uint32_t position)
{
	for (uint64_t at = from, stop; at < to; at = stop) {
		granule_entry *entry = entry_of(at, false);
		uint64_t value = entry ? atomic_load_explicit(entry, memory_order_acquire) : 0;
		uint64_t direct = ((uint64_t)position + 1) << 1 | DIRECT;
		unsigned unit = at / GMOD_DEVICE_ALIGNMENT % UNITS, end, count;
		bool has_leaf = value && !(value & DIRECT);
		leaf_slot *leaf = (leaf_slot *)(uintptr_t)value;

		stop = ((at >> GRANULE_BITS) + 1) << GRANULE_BITS;
		if (stop > to)
			stop = to;
		if (value == direct)
			atomic_compare_exchange_strong_explicit(entry, &direct, 0, memory_order_release,
								memory_order_relaxed);
		end = unit + (unsigned)((stop - at) >> UNIT_BITS);
		for (; has_leaf && unit < end; unit += count) {
			uint32_t mine = position + 1;

			atomic_compare_exchange_strong_explicit(&leaf[slot_from(unit, end, &count)], &mine, 0,
								memory_order_release, memory_order_relaxed);
		}
	}
}

bool gmod_index_publish(struct gmod_record *r)
{
	bool entered = gmod_index_insert(r->bounds.head_from, r->bounds.tail_to, r->position);

	if (entered)
		gmod_record_publish(r);
	return entered;
}

void gmod_index_reinstate(struct gmod_record *r)
{
	gmod_index_insert(r->bounds.head_from, r->bounds.tail_to, r->position);
	gmod_record_reinstate(r);
}

/* What the index holds for an address: a record a level, or one for all of them; NULL is none. */
struct hits {
	struct gmod_record *of[LEVELS];
};

static struct hits look_up(uint64_t address)
{
	granule_entry *entry = entry_of(address, false);
	uint64_t value = entry ? atomic_load_explicit(entry, memory_order_acquire) : 0;
	unsigned unit = address / GMOD_DEVICE_ALIGNMENT % UNITS, levels = value & DIRECT ? 1 : LEVELS;
	leaf_slot *leaf = (leaf_slot *)(uintptr_t)value;
	struct hits hits = {0};

	for (unsigned level = 0; value && level < levels; level++) {
		unsigned slot = first_slot[level] + (unit >> (FAN_BITS * (LEVELS - 1 - level)));
		uint32_t found =
		    value & DIRECT ? (uint32_t)(value >> 1) : atomic_load_explicit(&leaf[slot], memory_order_acquire);

		hits.of[level] = found ? gmod_record_at(found - 1) : NULL;
	}
	return hits;
}

struct gmod_found gmod_index_find_now(uint64_t address)
{
	struct hits hits = look_up(address);

	for (unsigned i = 0; i < LEVELS; i++) {
		struct gmod_found found = {.record = hits.of[i]};

		found.word = found.record ? gmod_record_snapshot(found.record, &found.bounds) : 0;
		if (found.word && address >= found.bounds.head_from && address < found.bounds.tail_to)
			return found;
	}
	return (struct gmod_found){0};
}

static bool facts_of(struct gmod_record *r, uint64_t address, struct gmod_buffer_facts *out)
{
	uint64_t word = r ? atomic_load_explicit(&r->word, memory_order_acquire) : 0;

	if ((word & 3) != GMOD_LIVE && (word & 3) != GMOD_RELEASING)
		return false;
	*out = gmod_record_facts(r);
	atomic_thread_fence(memory_order_acquire);
	return out->base == address && atomic_load_explicit(&r->word, memory_order_relaxed) >> 2 == word >> 2;
}

bool gmod_index_facts_at(uint64_t address, struct gmod_buffer_facts *out)
{
	struct hits hits = look_up(address);
	bool known = false;

	for (unsigned i = 0; i < LEVELS && !known; i++)
		known = facts_of(hits.of[i], address, out);
	return known;
}

/* Departures begun and over. A thread of its own departure does not wait for it. */
static atomic_uint departures, departures_over;
static __thread unsigned departing __attribute__((tls_model("initial-exec")));

void gmod_index_depart(void)
{
	departing++;
	/* seq_cst: before any buffer of it is RELEASING; whoever misses one because of that sees the count */
	atomic_fetch_add_explicit(&departures, 1, memory_order_seq_cst);
}

void gmod_index_departed(void)
{
	/* release: whoever sees the count finds what has come back */
	atomic_fetch_add_explicit(&departures_over, 1, memory_order_release);
	departing--;
}

static bool is_releasing(struct gmod_record *r, uint64_t address, struct gmod_found *out)
{
	uint64_t word = r ? atomic_load_explicit(&r->word, memory_order_acquire) : 0;

	*out = (struct gmod_found){.record = r, .word = word};
	return (word & 3) == GMOD_RELEASING && __atomic_load_n(&r->bounds.user, __ATOMIC_RELAXED) == address;
}

bool gmod_index_find_releasing(uint64_t address, struct gmod_found *out)
{
	/* acquire, both, as in gmod_index_find(): a departure that had it has begun by the second */
	unsigned over = atomic_load_explicit(&departures_over, memory_order_acquire);
	struct hits hits = look_up(address);
	bool known = false;

	for (unsigned i = 0; i < LEVELS && !known; i++)
		known = is_releasing(hits.of[i], address, out);
	return known && atomic_load_explicit(&departures, memory_order_acquire) == over;
}

/* Is the address in a buffer of a context that may be about to go, or that has just come back? */
static bool may_come_back(uint64_t address)
{
	uint32_t end = gmod_registry_used();

	for (uint32_t i = 0; i < end; i++) {
		const struct gmod_record *r = gmod_record_at(i);
		uint64_t word;

		if (address < __atomic_load_n(&r->bounds.head_from, __ATOMIC_RELAXED) ||
		    address >= __atomic_load_n(&r->bounds.tail_to, __ATOMIC_RELAXED))
			continue;
		/* A mistake, about one that changes hands or is being freed at this moment, costs naps. */
		word = atomic_load_explicit(&r->word, memory_order_acquire);
		if ((word & 3) == GMOD_LIVE || (word & 3) == GMOD_RELEASING)
			return true;
	}
	return false;
}

struct gmod_found gmod_index_find(uint64_t address)
{
	uint64_t deadline = GMOD_SECONDS(2);

	for (;;) {
		/* acquire, both: a departure that made us miss has begun by the second, and was not over by the first
		 */
		unsigned over = atomic_load_explicit(&departures_over, memory_order_acquire);
		struct gmod_found found = gmod_index_find_now(address);

		if (__builtin_expect(found.record != NULL, 1) ||
		    __builtin_expect(atomic_load_explicit(&departures, memory_order_acquire) == over, 1))
			return found;
		if (departing || !may_come_back(address) || !gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 5))
			return gmod_index_find_now(address);
	}
}
