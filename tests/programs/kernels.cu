/*
 * The kernels of the test programs. "Flip" means: xor with 0x5a, so that twice is the identity and a
 * flipped byte always differs from what was there. p is a buffer, off a byte offset from it (which may
 * lie before or behind the buffer: that is what they are for), count how many elements; launch at least
 * one thread an element unless the comment says otherwise.
 */
#define GT_KERNEL_MODULE
#include "kernels.h"

/* Nothing waits longer than this for the host: a test that died must not leave a kernel behind. */
#define GT_PATIENCE_NS 20000000000LL

GT_HELPER void gt_wait_flag(volatile int *flag)
{
	long long start = gt_now_ns();

	while (!*flag && gt_now_ns() - start < GT_PATIENCE_NS)
		GT_PAUSE();
	GT_FENCE();
}

GT_HELPER void gt_spin_ms(int ms)
{
	long long start = gt_now_ns();

	while (gt_now_ns() - start < ms * 1000000LL)
		GT_PAUSE();
}

/* Flip the bytes [off, off + count). */
GT_KERNEL3(k_flip, char *, p, long long, off, long long, count)
{
	long long i = GT_TID();

	if (i < count)
		p[off + i] ^= 0x5a;
}

/* Set the bytes [off, off + count) to value. */
GT_KERNEL4(k_fill, char *, p, long long, off, long long, count, int, value)
{
	long long i = GT_TID();

	if (i < count)
		p[off + i] = (char)value;
}

/* Flip count bytes, stride apart, the first at off. */
GT_KERNEL4(k_stride, char *, p, long long, off, long long, stride, long long, count)
{
	long long i = GT_TID();

	if (i < count)
		p[off + i * stride] ^= 0x5a;
}

/* Every thread adds 1 to the 4-byte integer at off (a multiple of 4). */
GT_KERNEL2(k_atomic_add, char *, p, long long, off)
{
	GT_ATOMIC_ADD((unsigned *)(p + off), 1u);
}

/* One thread flips the 16 bytes at off (a multiple of 16) with one vector store. */
GT_KERNEL2(k_store16, char *, p, long long, off)
{
	if (GT_TID() == 0) {
		gt_vec16 *at = (gt_vec16 *)(p + off);
		gt_vec16 v = *at;

		v.x ^= 0x5a5a5a5au;
		v.y ^= 0x5a5a5a5au;
		v.z ^= 0x5a5a5a5au;
		v.w ^= 0x5a5a5a5au;
		*at = v;
	}
}

/* y[i] += a * x[i] for i < n. */
GT_KERNEL4(k_axpy, float *, y, const float *, x, float, a, long long, n)
{
	long long i = GT_TID();

	if (i < n)
		y[i] += a * x[i];
}

/* *out += the sum of n 32-bit words: integers, so that the order of the threads does not matter. Any grid. */
GT_KERNEL3(k_sum, unsigned long long *, out, const unsigned *, x, long long, n)
{
	unsigned long long sum = 0;

	for (long long i = GT_TID(); i < n; i += GT_THREADS())
		sum += x[i];
	GT_ATOMIC_ADD(out, sum);
}

/* Wait until the host sets *flag (pinned memory), then flip. */
GT_KERNEL4(k_wait_flip, char *, p, long long, off, long long, count, volatile int *, flag)
{
	long long i = GT_TID();

	gt_wait_flag(flag);
	if (i < count)
		p[off + i] ^= 0x5a;
}

/* Flip, make it visible, then keep running until the host sets *flag (pinned memory). */
GT_KERNEL4(k_flip_and_spin, char *, p, long long, off, long long, count, volatile int *, flag)
{
	long long i = GT_TID();

	if (i < count)
		p[off + i] ^= 0x5a;
	GT_FENCE();
	if (i == GT_THREADS() - 1)
		gt_wait_flag(flag);
}

/* One thread flips count bytes, leaves them so for ms milliseconds, and puts them back. */
GT_KERNEL4(k_flip_restore, char *, p, long long, off, long long, count, int, ms)
{
	if (GT_TID() == 0) {
		for (long long i = 0; i < count; i++)
			p[off + i] ^= 0x5a;
		GT_FENCE();
		gt_spin_ms(ms);
		for (long long i = 0; i < count; i++)
			p[off + i] ^= 0x5a;
	}
}

/* The same, but says so in flag[0] and puts them back when the host has set flag[1] (pinned memory). */
GT_KERNEL4(k_flip_until, char *, p, long long, off, long long, count, volatile int *, flag)
{
	if (GT_TID() == 0) {
		for (long long i = 0; i < count; i++)
			p[off + i] ^= 0x5a;
		GT_FENCE();
		flag[0] = 1;
		gt_wait_flag(flag + 1);
		for (long long i = 0; i < count; i++)
			p[off + i] ^= 0x5a;
	}
}

/* Take ms milliseconds and change nothing. */
GT_KERNEL1(k_spin_ms, int, ms)
{
	if (GT_TID() == GT_THREADS() - 1)
		gt_spin_ms(ms);
}

/* Load the 16 bytes at off (a multiple of 16), which may reach past the end; add them up in *out. */
GT_KERNEL3(k_read_wide, const char *, p, long long, off, unsigned long long *, out)
{
	if (GT_TID() == 0) {
		gt_vec16 v = *(const gt_vec16 *)(p + off);

		*out = (unsigned long long)v.x + v.y + v.z + v.w;
	}
}

/* For cooperative launches: flip, with no grid synchronisation. */
GT_KERNEL3(k_coop, char *, p, long long, off, long long, count)
{
	long long i = GT_TID();

	if (i < count)
		p[off + i] ^= 0x5a;
}

/* Store value at an address that is not the program's: the launch ends in an illegal-address error. */
GT_KERNEL2(k_illegal, volatile char *, address, int, value)
{
	*address = (char)value;
}

/* One thread waits us microseconds, sets *stamp (pinned memory) to 1 and at once flips the byte at off. */
GT_KERNEL4(k_wait_stamp, volatile int *, stamp, char *, p, long long, off, int, us)
{
	if (GT_TID() == 0) {
		long long start = gt_now_ns();

		while (gt_now_ns() - start < us * 1000LL)
			;
		*stamp = 1;
		GT_FENCE();
		p[off] ^= 0x5a;
	}
}

/* Every thread computes for so many rounds and changes nothing; never is not written. Any grid. */
GT_KERNEL2(k_busy, int, rounds, volatile int *, never)
{
	unsigned x = (unsigned)GT_TID() + 1;

	for (int i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}
	/* A value that is not 0 stays so; but the compiler does not know. */
	if (!x)
		*never = 1;
}

/* Flip the bytes [off, off + count) of a buffer whose address lies in a structure, or in memory. */
struct gt_in_600 {
	long long before[37];
	char *p;
	long long behind[37];
};
struct gt_in_4000 {
	long long before[490];
	char *p;
	long long behind[9];
};

/* More than GMOD reads of parameters; more than 4 KiB of them take CUDA 12.1. */
struct gt_in_6000 {
	long long before[740];
	char *p;
	long long behind[9];
};

GT_KERNEL3(k_in_600, struct gt_in_600, in, long long, off, long long, count)
{
	long long i = GT_TID();

	if (i < count)
		in.p[off + i] ^= 0x5a;
}

GT_KERNEL3(k_in_4000, struct gt_in_4000, in, long long, off, long long, count)
{
	long long i = GT_TID();

	if (i < count)
		in.p[off + i] ^= 0x5a;
}

GT_KERNEL3(k_in_6000, struct gt_in_6000, in, long long, off, long long, count)
{
	long long i = GT_TID();

	if (i < count)
		in.p[off + i] ^= 0x5a;
}

GT_KERNEL3(k_in_table, char *const *, table, long long, off, long long, count)
{
	long long i = GT_TID();

	if (i < count)
		table[0][off + i] ^= 0x5a;
}

/* 60 that do what k_flip does. */
#define GT_FLIPS(n) \
	GT_KERNEL3(k_flip_##n, char *, p, long long, off, long long, count) \
	{ \
		long long i = GT_TID(); \
\
		if (i < count) \
			p[off + i] ^= 0x5a; \
	}
#define GT_TEN_FLIPS(n) \
	GT_FLIPS(n##0) \
	GT_FLIPS(n##1) \
	GT_FLIPS(n##2) \
	GT_FLIPS(n##3) GT_FLIPS(n##4) GT_FLIPS(n##5) GT_FLIPS(n##6) GT_FLIPS(n##7) GT_FLIPS(n##8) GT_FLIPS(n##9)

GT_TEN_FLIPS(0)
GT_TEN_FLIPS(1)
GT_TEN_FLIPS(2)
GT_TEN_FLIPS(3)
GT_TEN_FLIPS(4)
GT_TEN_FLIPS(5)

/*
 * One thread, who, accesses an address where nothing is: the launch ends in an error. Where something is,
 * fault_read changes nothing.
 */
GT_KERNEL2(fault_read, volatile int *, p, long long, who)
{
	if (GT_TID() == who) {
		int v = GT_FAULTS(GT_ACCESS, p, *p);

		if (v == 0x5eed5eed) /* the warp waits for the load */
			*p = 0;
	}
}

/* The warp leaves before the fault is noticed. */
GT_KERNEL2(fault_store, volatile int *, p, long long, who)
{
	if (GT_TID() == who)
		GT_FAULTS(GT_ACCESS, p, *p = 1);
}

/* The warp is still there. */
GT_KERNEL2(fault_stay, volatile int *, p, long long, who)
{
	if (GT_TID() == who)
		GT_FAULTS(GT_STAYS, p, *p = 1);
	gt_spin_ms(5);
}

GT_KERNEL2(fault_add, int *, p, long long, who)
{
	if (GT_TID() == who)
		GT_ATOMIC_ADD(p, 1);
}

/* A store of 4 bytes, one byte behind p, which is aligned. */
GT_KERNEL2(fault_misaligned, char *, p, long long, who)
{
	if (GT_TID() == who)
		GT_FAULTS(GT_MISALIGNED, p + 1, *(volatile int *)(p + 1) = 1);
}

/* A load of shared memory, of which there is none; at is an offset. */
GT_KERNEL2(fault_shared, long long, at, long long, who)
{
	if (GT_TID() == who) {
		int v = GT_FAULTS(GT_SHARED, at, GT_LOAD_SHARED(at));

		if (v == 0x5eed5eed)
			GT_TRAP();
	}
}

/* These two take an address so that all of them are launched alike. */
GT_KERNEL2(fault_trap, char *, p, long long, who)
{
	if (GT_TID() == who)
		GT_FAULTS(GT_TRAPS, p, GT_TRAP());
}

GT_KERNEL2(fault_assert, char *, p, long long, who)
{
	if (GT_TID() == who)
		GT_FAULTS(GT_ASSERTS, p, GT_ASSERT_FAILS());
}

/* Every thread adds up a number and its neighbours a row before and a row behind it. */
GT_KERNEL4(k_stencil, float *, out, const float *, in, long long, width, long long, count)
{
	long long i = GT_TID();

	if (i < count) {
		float before = GT_FAULTS(GT_ACCESS, in + i - width, in[i - width]);
		float behind = GT_FAULTS(GT_ACCESS, in + i + width, in[i + width]);

		out[i] = before + in[i] + behind;
	}
}
