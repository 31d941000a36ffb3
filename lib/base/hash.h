/* One way to spread handles and addresses over tables, and one to tell strings of bytes apart. */
#ifndef GMOD_LIB_BASE_HASH_H
#define GMOD_LIB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define GMOD_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* The upper bits are the ones to take: each of them depends on all of x below it. */
static inline uint64_t gmod_hash(uint64_t x)
{
	return x * GMOD_HASH_FACTOR;
}

/* FNV-1a; h: GMOD_HASH_START, or what came before. */
#define GMOD_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t gmod_hash_bytes(uint64_t h, const void *bytes, size_t n)
{
	for (const unsigned char *p = bytes; n > 0; n--)
		h = (h ^ *p++) * UINT64_C(0x100000001b3);
	return h;
}

#endif
