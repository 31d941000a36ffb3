/*
 * Which allocations of stream-ordered memory are guarded: as many as max_overhead pays for, the first ones of each
 * place of the program, and of the others a random choice whose probability is recorded. Eight in a row are chosen
 * together, which costs less than one at a time.
 *
 * A bucket holds nanoseconds: time fills it at the rate of max_overhead, up to what 125 ms give, and
 * what guarding costs is taken out of it. With the first allocation it has what the process's time so far gives, up to
 * ten seconds': weights and an optimizer's momenta, which live as long as the process, are allocated in its first
 * seconds, and their sites are new. What of that is not spent fades in a minute or two, for a job's first step may come
 * seconds after its weights. A choice is charged at once with what one has cost of late, because its cost comes later.
 * Once a window the probability is set, so that what the bucket holds lasts for the draws that the busiest window of
 * late had. A draw goes by nothing but that number and how many draws there were: not by what the bucket holds at that
 * moment, or sites that always come late would never be drawn, and the number recorded would not be the true one.
 *
 * Pure arithmetic: no driver, no memory, no clock. From any thread, also from a signal handler; nobody waits.
 */
#ifndef GMOD_LIB_BASE_SAMPLER_H
#define GMOD_LIB_BASE_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { GMOD_SITES = 8192 };       /* told apart at most; the others are one */
enum { GMOD_SITE_FIRSTS = 4 };    /* of a site's allocations are guarded as soon as they can be paid for */
#define GMOD_CERTAIN (1ull << 32) /* the probability 1 */

/*
 * A place of the program that allocates in stream order, as far as samples tell them apart. An allocation that came
 * while a first one was due and could not be paid for is neither a first one nor a draw.
 */
struct gmod_site {
	_Atomic uint64_t key;          /* 0: nobody's yet, or of the one for the others */
	_Atomic uint64_t allocations;  /* so far */
	_Atomic uint64_t guarded;      /* of these, chosen and not taken back */
	_Atomic uint64_t firsts;       /* of the chosen, those taken as a site's first ones */
	_Atomic uint64_t draws, drawn; /* decided by chance, and chosen */
	_Atomic uint64_t expected;     /* sum of the probabilities of the draws, in 2^-32 */
} __attribute__((aligned(64)));

/* Once, when the process begins, by CLOCK_MONOTONIC. */
void gmod_sample_begin(uint64_t now_ns);

/*
 * One more allocation of the site with that key (a hash, not 0), at that time: is it to be guarded? *site is never
 * NULL. Seeded with the key of the canaries (gmod_hot.key).
 */
bool gmod_sample(uint64_t key, uint64_t now_ns, struct gmod_site **site);

/* Chosen, but it could not be guarded. */
void gmod_sample_take_back(struct gmod_site *site);

/*
 * What guarding has cost: time of the calling thread, and of the stream. The larger sum of a window counts. Of the
 * thread's no more is counted than 0.2 ms or what four pairs have taken of late, whichever is more: a call that waits
 * once is no reason to guard nothing for a while.
 */
void gmod_sample_spent(uint64_t thread_ns, uint64_t stream_ns);

/* splitmix64's n-th number, from 0: for all that is drawn by chance. */
uint64_t gmod_random(uint64_t seed, uint64_t n);

struct gmod_sample_totals {
	uint64_t sites, sites_guarded;
};

void gmod_sample_totals(struct gmod_sample_totals *out);

#endif
