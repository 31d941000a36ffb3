/*
 * Every driver entry point as a function that returns CUDA_SUCCESS, weak, so that nullcuda.c can do better; and the
 * list of them. cuda.h is kept out: here they all have one type. A caller's arguments lie in registers or on its own
 * stack, so a callee that ignores them needs no prototype.
 */
#include <stddef.h>

#include "nullcuda.h"

__attribute__((visibility("hidden"))) int null_success(void)
{
	return 0;
}

#define NULL_ENTRY(symbol, base, version, flavour) int symbol(void) __attribute__((weak, alias("null_success")));
#define GMOD_HOOK NULL_ENTRY
#define GMOD_PLAIN NULL_ENTRY
#define GMOD_CALL NULL_ENTRY
#include "lib/driver/entrypoints.def"
#include "tests/sim/plain.def"

#define NULL_ROW(symbol, base, version, flavour) {#base, #flavour, version, (void *)symbol},
#define GMOD_HOOK NULL_ROW
#define GMOD_PLAIN NULL_ROW
#define GMOD_CALL NULL_ROW

const struct null_name null_names[] = {
#include "lib/driver/entrypoints.def"
#include "tests/sim/plain.def"
    {NULL, NULL, 0, NULL},
};
