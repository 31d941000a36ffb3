/* One way to spread handles and addresses over tables, and two to tell strings of bytes apart. */
#ifndef GMOD_LIB_BASE_HASH_H
#define GMOD_LIB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GMOD_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* The upper bits are the ones to take: each of them depends on all of x below it. */
static inline uint64_t gmod_hash(uint64_t x)
{
	return x * GMOD_HASH_FACTOR;
}

/* For this process only: 16 bytes at a time, which do not wait for each other. */
static inline uint64_t gmod_hash_quick(uint64_t h, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += 16) {
		uint64_t w[2] = {0, 0};
		unsigned __int128 product;

		if (n - i < 16)
			memcpy(w, (const char *)bytes + i, n - i);
		else
			memcpy(w, (const char *)bytes + i, 16);
		product = (unsigned __int128)(w[0] ^ (i + 1) * GMOD_HASH_FACTOR) *
			  (w[1] ^ (i + 2) * UINT64_C(0xd6e8feb86659fd93));
		h += (uint64_t)product ^ (uint64_t)(product >> 64);
	}
	return gmod_hash(h ^ h >> 32);
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
