/*
 * What a driver has and nothing here simulates: mostly the first ABIs, whose device pointers have 32 bits, so that a
 * program or a hook that takes the wrong one of two equal names is told so. None of them does anything, so what they
 * are given does not matter.
 */
#include "sim.h"

#define ABSENT(symbol) \
	__attribute__((visibility("default"))) CUresult absent_##symbol(void) __asm__(#symbol); \
	CUresult absent_##symbol(void) \
	{ \
		struct call c = ENTER(symbol, NEEDS_NOTHING); \
\
		return sim_leave(&c, c.refused ?: CUDA_ERROR_NOT_SUPPORTED); \
	}

#define GMOD_PLAIN(symbol, base, version, flavour) ABSENT(symbol)
#include "../../lib/driver/entrypoints.def"
