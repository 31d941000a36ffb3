/*
 * From an address to the record of the buffer around it, interior pointers and redzones included.
 *
 * Guarded buffers own whole units of GMOD_DEVICE_ALIGNMENT bytes, so the index maps units: two levels of tables over
 * granules of 2 MiB, and one leaf per granule that a buffer shares with others. A leaf is a tree: a slot for all of the
 * granule, 16 for its parts, and so on down to its 4096 units, and a buffer has the fewest slots that cover it, at most
 * 90 in a granule. Tables and leaves are made once and never freed; a slot is set by the thread that arms a buffer and
 * cleared by the one that releases it, before the driver can hand the pages out again.
 *
 *     address bits   47..34 root | 33..21 middle | 20..17, 16..13, 12..9 leaf
 *     granule entry  0 | position + 1 of the buffer that covers all of it, tagged DIRECT | pointer to its leaf
 *
 * A granule that once had a leaf keeps it. Where the next buffer comes before the last one's slots are cleared, an
 * address has slots of both, on two levels: a look-up tries all. Look-ups take no lock and may run while anything
 * changes: the answer is a record to be checked against its own fields, as gmod_index_find() does. Modelled in
 * tests/models/index.pml, with the end of a context in teardown.pml.
 */
#ifndef GMOD_MONITOR_REGISTRY_INDEX_H
#define GMOD_MONITOR_REGISTRY_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/registry/registry.h"

/* A record found LIVE, with the word that proves which buffer it is. record is NULL when there is none. */
struct gmod_found {
	struct gmod_record *record;
	uint64_t word;
	struct gmod_bounds bounds;
};

/* Enter units [from, to), aligned to GMOD_DEVICE_ALIGNMENT, for the record. false: out of memory, nothing entered. */
bool gmod_index_insert(uint64_t from, uint64_t to, uint32_t position);
/* Remove them again. */
void gmod_index_remove(uint64_t from, uint64_t to, uint32_t position);

/* A buffer that is complete, or whose release was broken off, is LIVE and found. false: out of memory, still ARMING. */
bool gmod_index_publish(struct gmod_record *r);
/* Its tables are there since the first time: this cannot fail. */
void gmod_index_reinstate(struct gmod_record *r);

/*
 * The live buffer whose units (redzones included) hold the address.
 *
 * While a context is torn down (lib/buffers/teardown.c) its buffers are RELEASING and out of the index. That may take
 * long, and the context may stay: a look-up that misses such a buffer waits for the driver's answer, 2 s at most. So
 * does one for a buffer that another thread is freeing. Other look-ups that miss wait for nothing.
 */
struct gmod_found gmod_index_find(uint64_t address);
/* The same, without waiting. */
struct gmod_found gmod_index_find_now(uint64_t address);

/*
 * Where gmod_index_find() has found nothing: the buffer that begins there, if another thread is freeing it at this
 * moment. Not in the midst of a departure, which may be what took it.
 */
bool gmod_index_find_releasing(uint64_t address, struct gmod_found *out);

/* Facts of the buffer that begins there, also of one that is being freed. false: there is none, or it has just gone. */
bool gmod_index_facts_at(uint64_t address, struct gmod_buffer_facts *out);

/*
 * Buffers of a context leave the index, perhaps to come back: from before the first has left until the last is back or
 * gone. Several threads may be at it.
 */
void gmod_index_depart(void);
void gmod_index_departed(void);

#endif
