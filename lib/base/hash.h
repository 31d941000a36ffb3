/* One way to spread handles and addresses over tables. */
#ifndef GMOD_LIB_HASH_H
#define GMOD_LIB_HASH_H

#include <stdint.h>

#define GMOD_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* The upper bits are the ones to take: each of them depends on all of x below it. */
static inline uint64_t gmod_hash(uint64_t x)
{
	return x * GMOD_HASH_FACTOR;
}

#endif
