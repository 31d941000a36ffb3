#include "monitor/registry/freed.h"

#include <string.h>

#include "lib/base/lock.h"
#include "lib/base/map.h"

enum { REMEMBERED = 4096 };

/* A ring, made at the first free. Under lock; copies only, no driver call. */
static struct gmod_buffer_facts *freed;
static uint64_t freed_count;
static atomic_flag lock = ATOMIC_FLAG_INIT;

void gmod_freed_remember(const struct gmod_buffer_facts *facts)
{
	if (!gmod_lock(&lock))
		return;
	if (!freed)
		freed = gmod_map(REMEMBERED * sizeof(*freed));
	if (freed)
		freed[freed_count++ % REMEMBERED] = *facts;
	gmod_unlock(&lock);
}

bool gmod_freed_nth(uint64_t n, struct gmod_buffer_facts *out)
{
	bool there;

	if (!gmod_lock(&lock))
		return false;
	there = freed && n < REMEMBERED && n < freed_count;
	if (there)
		*out = freed[(freed_count - 1 - n) % REMEMBERED];
	gmod_unlock(&lock);
	return there;
}

bool gmod_freed_find(uint64_t address, struct gmod_buffer_facts *out)
{
	for (uint64_t n = 0; gmod_freed_nth(n, out); n++)
		if (out->base == address)
			return true;
	return false;
}

bool gmod_freed_had_fenced(uint64_t address)
{
	bool had = false;

	if (!gmod_lock(&lock))
		return false;
	for (uint64_t i = 0; freed && !had && i < REMEMBERED && i < freed_count; i++)
		had = address - freed[i].base < freed[i].size && strcmp(freed[i].backend, "fence") == 0;
	gmod_unlock(&lock);
	return had;
}
