/* Kernels that allocate for themselves: a module of its own, because every module with such kernels is given a heap. */
#define GT_KERNEL_MODULE
#include "kernels.h"

#include "inkernel_api.h"

/*
 * Each thread gets a buffer, writes all of it and frees it, `rounds` times or, where there is a flag (pinned memory),
 * until the host sets it; *missing counts those it did not get.
 */
GT_KERNEL4(d_pairs, long long, rounds, long long, size, int *, missing, volatile int *, stop)
{
	GT_ALLOCATES();
	for (long long r = 0; r < rounds && !(stop && *stop); r++) {
		char *p = (char *)mallocN((size_t)size);

		if (!p)
			GT_ATOMIC_ADD(missing, 1);
		for (long long i = 0; p && i < size; i++)
			p[i] = (char)i;
		freeN(p);
	}
}

/* out[i]: a buffer of size + i * step bytes for thread i. */
GT_KERNEL4(d_alloc, char **, out, long long, count, long long, size, long long, step)
{
	long long i = GT_TID();

	GT_ALLOCATES();
	if (i < count)
		out[i] = (char *)mallocN((size_t)(size + i * step));
}

/* out[i]: n elements of this size, all zero. */
GT_KERNEL4(d_calloc, char **, out, long long, count, long long, n, long long, size)
{
	long long i = GT_TID();

	GT_ALLOCATES();
	if (i < count)
		out[i] = (char *)callocN((size_t)n, (size_t)size);
}

/* p[i] gets another size, or stays. */
GT_KERNEL3(d_realloc, char **, p, long long, count, long long, size)
{
	long long i = GT_TID();
	char *other;

	GT_ALLOCATES();
	if (i < count) {
		other = (char *)reallocN(p[i], (size_t)size);
		p[i] = other ? other : p[i];
	}
}

/* out[i]: sizeN of p[i]. */
GT_KERNEL3(d_size, char **, p, long long, count, long long *, out)
{
	long long i = GT_TID();

	GT_ALLOCATES();
	if (i < count)
		out[i] = (long long)sizeN(p[i]);
}

/* By one thread: *p gets size bytes at a multiple of align, and *why the reason if it gets none, else 0. */
GT_KERNEL4(d_aligned, char **, p, long long, align, long long, size, int *, why)
{
	GT_ALLOCATES();
	*p = (char *)aligned_allocN((size_t)align, (size_t)size);
	*why = *p ? 0 : whyN((size_t)align, (size_t)size);
}

/* Write all bytes of p[i], other ones for each i. */
GT_KERNEL3(d_fill, char **, p, long long, count, long long, size)
{
	long long i = GT_TID();

	for (long long k = 0; i < count && p[i] && k < size; k++)
		p[i][k] = (char)(i * 7 + k);
}

/* Count in *bad the bytes of p[i] that d_fill has not left so. */
GT_KERNEL4(d_check, char **, p, long long, count, long long, size, int *, bad)
{
	long long i = GT_TID();

	for (long long k = 0; i < count && p[i] && k < size; k++)
		if (p[i][k] != (char)(i * 7 + k))
			GT_ATOMIC_ADD(bad, 1);
}

/* Count in *bad the bytes of p[i] that are not zero. */
GT_KERNEL4(d_check_zero, char **, p, long long, count, long long, size, int *, bad)
{
	long long i = GT_TID();

	for (long long k = 0; i < count && p[i] && k < size; k++)
		if (p[i][k])
			GT_ATOMIC_ADD(bad, 1);
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

/* The same with the bytes off and off + 3. */
GT_KERNEL3(d_flip_two, char **, p, long long, index, long long, off)
{
	if (GT_TID() == 0) {
		p[index][off] ^= 0x5a;
		p[index][off + 3] ^= 0x5a;
	}
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

/* What a lane of d_divergent asks for: nothing, little, or much, each lane of a warp something else. */
GT_HELPER size_t divergent_size(long long i, long long round)
{
	long long k = i * 7 + round * 13;

	if (k % 5 == 0)
		return 0;
	return (size_t)(k % 11 == 0 ? 4000 + k : k % 301);
}

/*
 * Some lanes allocate and others do not, of sizes of their own; some free what they had in another branch, some in a
 * loop that others have left. *bad counts marks that are gone.
 */
GT_KERNEL3(d_divergent, char **, held, long long, rounds, int *, bad)
{
	long long i = GT_TID();
	char mark = (char)(i % 127 + 1);

	GT_ALLOCATES();
	held[i] = NULL;
	for (long long r = 0; r < rounds + i % 3; r++) {
		size_t size = divergent_size(i, r);
		char *p = size ? (char *)mallocN(size) : NULL;

		if (p)
			p[0] = p[size - 1] = mark;
		if (held[i] && *held[i] != mark)
			GT_ATOMIC_ADD(bad, 1);
		freeN(held[i]);
		if (p && i % 4 == 1 && p[size - 1] != mark)
			GT_ATOMIC_ADD(bad, 1);
		if (i % 4 == 1)
			freeN(p);
		held[i] = i % 4 == 1 ? NULL : p;
	}
	freeN(held[i]);
}

/* Thread i hangs buffers of this size (8 bytes or more) on chain[i] until it gets none or has `most`; got[i]: count. */
GT_KERNEL4(d_hoard, char **, chain, long long, size, long long, most, long long *, got)
{
	long long i = GT_TID(), n = 0;
	char *p = NULL;

	GT_ALLOCATES();
	chain[i] = NULL;
	while (n < most && (p = (char *)mallocN((size_t)size))) {
		*(char **)p = chain[i];
		chain[i] = p;
		n++;
	}
	got[i] = n;
}

/* Free the buffers that hang there. */
GT_KERNEL1(d_let_go, char **, chain)
{
	long long i = GT_TID();

	GT_ALLOCATES();
	while (chain[i]) {
		char *p = chain[i];

		chain[i] = *(char **)p;
		freeN(p);
	}
}

/* ---- what no kernel should do ---- */

/* Flip one byte of p[index], then free the buffer. */
GT_KERNEL3(d_flip_and_free, char **, p, long long, index, long long, off)
{
	GT_ALLOCATES();
	if (GT_TID() == 0) {
		p[index][off] ^= 0x5a;
		freeN(p[index]);
	}
}

/* The same with the byte behind a buffer of its own, `rounds` times; *missing counts those that it did not get. */
GT_KERNEL3(d_overrun, long long, rounds, long long, size, int *, missing)
{
	GT_ALLOCATES();
	for (long long r = 0; r < rounds; r++) {
		char *p = (char *)mallocN((size_t)size);

		if (p)
			p[size] ^= 0x5a;
		else
			GT_ATOMIC_ADD(missing, 1);
		freeN(p);
	}
}

/* The byte before each p[i] is flipped, then p[i] + off freed. */
GT_KERNEL3(d_underrun_and_free, char **, p, long long, count, long long, off)
{
	long long i = GT_TID();

	GT_ALLOCATES();
	if (i < count) {
		p[i][-1] ^= 0x5a;
		freeN(p[i] + off);
	}
}

/* A buffer of p's is freed, and then a byte of it flipped. */
GT_KERNEL3(d_free_and_flip, char **, p, long long, index, long long, off)
{
	GT_ALLOCATES();
	if (GT_TID() == 0) {
		freeN(p[index]);
		p[index][off] ^= 0x5a;
	}
}

/* A buffer is made, the byte behind it flipped, and the kernel goes on until the host sets *flag, for 20 s at most. */
GT_KERNEL2(d_overflow_and_wait, long long, size, volatile int *, flag)
{
	long long end = gt_now_ns() + 20000000000LL;
	char *p;

	GT_ALLOCATES();
	if (GT_TID() < GT_THREADS() - 1)
		return;
	p = (char *)mallocN((size_t)size);
	if (p)
		p[size] ^= 0x5a;
	GT_FENCE();
	while (!*flag && gt_now_ns() < end)
		GT_PAUSE();
	freeN(p);
}

/* All threads free one buffer. */
GT_KERNEL1(d_free_same, char **, p)
{
	GT_ALLOCATES();
	freeN(*p);
}

GT_VARIABLE long long d_variable[4];

/* Free a variable of the thread's, one of the module's, and an address that is neither. */
GT_KERNEL1(d_free_foreign, char *, other)
{
	long long own[4] = {GT_TID(), 0, 0, 0};
	char *volatile address = (char *)own;

	GT_ALLOCATES();
	freeN(address);
	address = (char *)d_variable;
	freeN(address);
	freeN(other);
}

/* Write a word all over the ring of findings, which is found through the heap's constants as no program would. */
GT_HELPER void scribble(unsigned long long word, long long from, long long step)
{
	long long words = GMOD_RING_SLOTS * (long long)sizeof(struct gmod_device_finding) / 8;
	volatile unsigned long long *at;

	if (!gmod_unit_heap.base)
		return;
	at = (volatile unsigned long long *)gmod_unit_heap.ring->slot;
	for (long long i = from; i < words; i += step)
		at[i] = word;
}

GT_KERNEL1(d_scribble, unsigned long long, word)
{
	scribble(word, GT_TID(), GT_THREADS());
}

/* By one thread: a buffer is freed twice, and before anybody can read of it that is written over. */
GT_KERNEL2(d_free_twice_and_scribble, char **, p, unsigned long long, word)
{
	GT_ALLOCATES();
	freeN(*p);
	freeN(*p);
	scribble(word, 0, 1);
}
