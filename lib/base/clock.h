/* What time it is: for people, for waits, and for the order of events. */
#ifndef GMOD_LIB_BASE_CLOCK_H
#define GMOD_LIB_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "lib/base/phase.h"

#define GMOD_MILLISECONDS(n) ((uint64_t)(n)*1000000)
#define GMOD_SECONDS(n) ((uint64_t)(n)*1000000000)

static inline uint64_t gmod_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t gmod_monotonic_ns(void)
{
	return gmod_clock_ns(CLOCK_MONOTONIC);
}

/* The processors' common counter, and what the kernel calls it when it tells the time by it. */
#if defined(__x86_64__)

#define GMOD_TICKS_BY "tsc\n"

static inline uint64_t gmod_processor_ticks(void)
{
	return __rdtsc();
}

/* What has been read before comes before the ticks that are read next. */
static inline void gmod_ticks_after_reads(void)
{
	_mm_lfence();
}

#elif defined(__aarch64__)

#define GMOD_TICKS_BY "arch_sys_counter\n"

/* isb: not before what comes before it. */
static inline uint64_t gmod_processor_ticks(void)
{
	uint64_t n;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(n) : : "memory");
	return n;
}

static inline void gmod_ticks_after_reads(void)
{
	__asm__ volatile("dsb ishld" : : : "memory");
}

#else
#error "libgmod is written for x86-64 and aarch64"
#endif

/* Not in line: with it a launch's hook would not be in one piece. */
__attribute__((cold)) uint64_t gmod_ticks_of_the_kernel(void);

/*
 * What launches are stamped with, and all that is ordered with them, on whichever processor: the processors' counter
 * where the kernel tells the time by it, because then it has found that they agree and go on at one rate;
 * elsewhere, also before gmod_clock_init(), nanoseconds of the kernel's.
 */
static inline uint64_t gmod_ticks(void)
{
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.counter, memory_order_relaxed), 1))
		return gmod_processor_ticks();
	return gmod_ticks_of_the_kernel();
}

/* Once, before anything is stamped. source: the file in which the kernel says what it tells the time by. */
#define GMOD_CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
void gmod_clock_init(const char *source);

/* When that was, by CLOCK_MONOTONIC; 0: not yet. */
uint64_t gmod_clock_began(void);

/* CLOCK_REALTIME at so many ticks, by the time that has passed since gmod_clock_init(). */
uint64_t gmod_ns_of_ticks(uint64_t ticks);

/* What the ticks were so many ns ago, or at gmod_clock_init() if that was later. */
uint64_t gmod_ticks_ago(uint64_t ns);

struct gmod_moment {
	uint64_t ns;    /* CLOCK_REALTIME */
	uint64_t ticks; /* gmod_ticks() */
};

static inline struct gmod_moment gmod_now(void)
{
	uint64_t ns = gmod_clock_ns(CLOCK_REALTIME);

	return (struct gmod_moment){ns, gmod_ticks()};
}

/*
 * A moment that others read while it is set. Who reads it meanwhile may have the one's ns with the other's ticks: what
 * is ordered goes by the ticks.
 */
struct gmod_stamp {
	_Atomic uint64_t ns, ticks;
};

static inline void gmod_stamp_set(struct gmod_stamp *s, struct gmod_moment m)
{
	atomic_store_explicit(&s->ns, m.ns, memory_order_relaxed);
	atomic_store_explicit(&s->ticks, m.ticks, memory_order_relaxed);
}

static inline struct gmod_moment gmod_stamp_get(const struct gmod_stamp *s)
{
	return (struct gmod_moment){
	    atomic_load_explicit(&s->ns, memory_order_relaxed),
	    atomic_load_explicit(&s->ticks, memory_order_relaxed),
	};
}

/* The wall clock so many ns from now, for locks with a bound. */
static inline struct timespec gmod_time_in(uint64_t ns)
{
	uint64_t at = gmod_clock_ns(CLOCK_REALTIME) + ns;

	return (struct timespec){(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
}

#endif
