/* Everything that has an address: a search tree of disjoint ranges (for interior pointers) and a list. */
#include "sim.h"

#include <search.h>
#include <stdlib.h>

static void *tree;
static struct block *list;

/* Ranges that overlap compare equal, so that a search for one byte finds the range around it. */
static int compare(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->base + x->size <= y->base)
		return -1;
	return x->base >= y->base + y->size;
}

/* One that has any of these bytes. */
struct block *block_overlap(uintptr_t base, size_t size)
{
	struct block key = {.base = base, .size = size};
	struct block **found = tfind(&key, &tree, compare);

	return found ? *found : NULL;
}

struct block *block_find(uintptr_t address)
{
	return block_overlap(address, 1);
}

bool block_is_of_no_context(uintptr_t address)
{
	const struct block *block = block_find(address);

	return block && (block->kind == BLOCK_VMM || block->kind == BLOCK_POOL);
}

struct block *block_first(void)
{
	return list;
}

struct block *block_new(enum block_kind kind, CUcontext ctx, uintptr_t base, size_t size)
{
	struct block *block = calloc(1, sizeof(*block));

	block->kind = kind;
	block->ctx = ctx && ctx->owner ? ctx->owner : ctx;
	block->device = ctx ? ctx->device : 0;
	block->base = base;
	block->size = size;
	block->id = ++sim.last_id;
	return block;
}

void block_insert(struct block *block)
{
	tsearch(block, &tree, compare);
	block->next = list;
	if (list)
		list->prev = block;
	list = block;
}

void block_remove(struct block *block)
{
	tdelete(block, &tree, compare);
	if (block->next)
		block->next->prev = block->prev;
	if (block->prev)
		block->prev->next = block->next;
	else
		list = block->next;
	free(block->pages);
	free(block);
}

bool block_is_host(const struct block *block)
{
	return block->kind == BLOCK_HOST || block->kind == BLOCK_REGISTERED;
}

/* May the driver touch these bytes? What it does not know (*known false) is the program's own memory. Mappings
 * side by side count as one range, allocations side by side do not. */
bool block_range_ok(uintptr_t address, size_t bytes, bool *known)
{
	struct block *block = block_find(address);
	size_t inside;

	*known = block != NULL;
	while (block) {
		inside = block->base + block->size - address;
		if (bytes <= inside)
			return true;
		if (block->kind != BLOCK_VMM)
			return false;
		address += inside;
		bytes -= inside;
		block = block_find(address);
		if (block && block->kind != BLOCK_VMM)
			return false;
	}
	return !*known;
}
