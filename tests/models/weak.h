/*
 * What the models of memory orders share. Relacy runs their threads and lets a load see what C11 lets it see: the
 * latest store or, where nothing forbids it, one before; first in every way in which threads take over from each other
 * five times before they have to, then by random numbers, where it may be two before, the same numbers each time. No
 * load sees what comes of later stores of its own thread, and a seq_cst fence orders nothing against other threads'
 * seq_cst loads and stores, but against their fences.
 */
#ifndef GMOD_TESTS_MODELS_WEAK_H
#define GMOD_TESTS_MODELS_WEAK_H

#include <cstring>
#include <iostream>
#include <relacy/relacy.hpp>

/* Is FLAG among the program's arguments? It is no macro, because a model takes longer to compile than to run. */
static char **flags;

static bool is_flag(const char *name)
{
	for (char **flag = flags; *flag; flag++)
		if (!strcmp(*flag, name))
			return true;
	return false;
}

#define IS(flag) is_flag(#flag)

/* An order, and the weaker one that a flag puts in its place. */
#define ORDER(right, flag, wrong) (IS(flag) ? rl::mo_##wrong : rl::mo_##right)

#define LOAD(at, order) (at).load(order, $)
#define STORE(at, value, order) (at).store(value, order, $)
#define EXCHANGE(at, value, order) (at).exchange(value, order, $)
#define ADD(at, value, order) (at).fetch_add(value, order, $)
#define CAS(at, expected, value, order) (at).compare_exchange_strong(expected, value, order, $, rl::mo_relaxed, $)
#define FENCE(order) rl::atomic_thread_fence(order, $)
#define PAUSE() rl::yield(1, $)

/* A word that threads share, with what it is at first: shared pinned{0}. */
typedef rl::atomic<unsigned> shared;
using rl::mo_acq_rel;
using rl::mo_acquire;
using rl::mo_relaxed;
using rl::mo_release;
using rl::mo_seq_cst;

template <class model> static bool holds(rl::scheduler_type_e order)
{
	std::ostream nowhere(NULL);
	rl::test_params p;

	p.search_type = order;
	p.context_bound = 5;
	p.iteration_count = 300000;
	p.progress_stream = &nowhere;
	return rl::simulate<model>(p);
}

/* What Relacy says, the steps of a run that breaks, and at the end "holds" or "breaks". */
template <class model> static int check(char **given)
{
	flags = given + 1;
	std::cout << (holds<model>(rl::sched_bound) && holds<model>(rl::sched_random) ? "holds\n" : "breaks\n");
	return 0;
}

#endif
