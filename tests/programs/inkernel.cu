/* Kernels that allocate for themselves: a module of its own, because every module with such kernels is given a heap. */
#define GT_KERNEL_MODULE
#include "kernels.h"

#include "inkernel_api.h"

/* Each thread gets a buffer, writes all of it and frees it, `rounds` times; *missing counts those it did not get. */
GT_KERNEL3(d_pairs, long long, rounds, long long, size, int *, missing)
{
	GT_ALLOCATES();
	for (long long r = 0; r < rounds; r++) {
		char *p = (char *)mallocN((size_t)size);

		if (!p)
			GT_ATOMIC_ADD(missing, 1);
		for (long long i = 0; p && i < size; i++)
			p[i] = (char)i;
		freeN(p);
	}
}

/* out[i]: a buffer of this size for thread i. */
GT_KERNEL3(d_alloc, char **, out, long long, count, long long, size)
{
	long long i = GT_TID();

	GT_ALLOCATES();
	if (i < count)
		out[i] = (char *)mallocN((size_t)size);
}

/* Free p[i] + off. */
GT_KERNEL3(d_free, char **, p, long long, count, long long, off)
{
	long long i = GT_TID();

	GT_ALLOCATES();
	if (i < count)
		freeN(p[i] + off);
}

/* Flip the bytes [off, off + count) of the buffer p[index]. */
GT_KERNEL4(d_flip, char **, p, long long, index, long long, off, long long, count)
{
	long long i = GT_TID();

	if (i < count)
		p[index][off + i] ^= 0x5a;
}

/*
 * Buffers that come and go: each thread holds up to four, of 1 to 300 bytes and now and then of up to 64 KiB, writes a
 * mark at both ends and looks for it before it frees. *bad counts marks that are gone.
 */
GT_KERNEL3(d_churn, long long, rounds, long long, seed, int *, bad)
{
	unsigned s = ((unsigned)GT_TID() + 1) * 2654435761u ^ (unsigned)seed, size[4];
	volatile unsigned char *held[4] = {0, 0, 0, 0};
	unsigned char mark = (unsigned char)(GT_TID() % 251 + 1);

	GT_ALLOCATES();
	for (long long r = 0; r < rounds + 4; r++) {
		unsigned k = r < rounds ? s & 3 : (unsigned)(r - rounds);

		s ^= s << 13;
		s ^= s >> 17;
		s ^= s << 5;
		if (held[k]) {
			if (held[k][0] != mark || held[k][size[k] - 1] != mark)
				GT_ATOMIC_ADD(bad, 1);
			freeN((void *)held[k]);
			held[k] = 0;
		} else if (r < rounds) {
			size[k] = 1 + (s >> 8) % (s >> 26 ? 300 : 65536);
			held[k] = (unsigned char *)mallocN(size[k]);
			if (held[k])
				held[k][0] = held[k][size[k] - 1] = mark;
		}
	}
}
