/*
 * For the figure_*.c: what a program does between two calls, as the caches see it. evict_make() has so many bytes of
 * code and as many of data made, and evict() runs through all of both, in an order that no prefetcher guesses.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EVICT_LINE ((size_t)64)

struct evict {
	void (*code)(void); /* NULL: nothing to run through */
	void **data;
};

/* The numbers below count, shuffled the same way each time. */
static inline uint32_t *evict_order(size_t count)
{
	uint32_t *order = malloc(count * sizeof(*order));
	uint64_t random = 88172645463325252;

	for (size_t i = 0; order && i < count; i++) {
		size_t j;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		j = random % (i + 1);
		order[i] = order[j];
		order[j] = (uint32_t)i;
	}
	return order;
}

/* One line of code: a jump to another one, or the return from the last. */
static inline void evict_write_line(unsigned char *code, size_t from, size_t to)
{
	int32_t distance = (int32_t)((int64_t)(to * EVICT_LINE) - (int64_t)(from * EVICT_LINE + 5));

	code[from * EVICT_LINE] = 0xe9; /* jmp rel32 */
	memcpy(&code[from * EVICT_LINE + 1], &distance, sizeof(distance));
}

/* false: no memory. */
static inline int evict_make(struct evict *e, size_t bytes)
{
	size_t count = bytes / EVICT_LINE;
	uint32_t *order = evict_order(count);
	unsigned char *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!order || !count || code == MAP_FAILED || data == MAP_FAILED)
		return 0;
	for (size_t i = 0; i + 1 < count; i++) {
		evict_write_line(code, order[i], order[i + 1]);
		*(void **)(data + order[i] * EVICT_LINE) = data + order[i + 1] * EVICT_LINE;
	}
	code[order[count - 1] * EVICT_LINE] = 0xc3; /* ret */
	e->data = (void **)(data + order[0] * EVICT_LINE);
	e->code = (void (*)(void))(uintptr_t)(code + order[0] * EVICT_LINE);
	free(order);
	return mprotect(code, bytes, PROT_READ | PROT_EXEC) == 0;
}

static inline void evict(const struct evict *e)
{
	for (void **line = e->data; line; line = *line)
		line[1] = line; /* written, too: what a program has written has to be put away first */
	if (e->code)
		e->code();
}
