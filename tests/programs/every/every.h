/*
 * Every hook by a pointer of its own, whatever its ABI and its default stream: hook_cuMemcpyHtoD_v2_ptds and so on,
 * with the types of the table. A program calls each of a family's, prints what came of it, and does so twice: with
 * pointers from dlsym, and with those that cuGetProcAddress has for the row's name and version.
 *
 *	static void calls(void)
 *	{
 *		SAY(cuStreamQuery, stream);
 *		BOTH(cuStreamQuery, _ptsz, stream);	cuStreamQuery, then cuStreamQuery_ptsz
 *	}
 *
 *	int main(void)
 *	{
 *		every_way(calls);
 *	}
 *
 * tests/edges/hooks.sh sees to it that no hook of the table is left out.
 */
#pragma once

#include "testkit.h"

#include <dlfcn.h>

/* The older ABIs too, for which cuda.h would rename what testkit.h calls: types of theirs that it has then left out. */
typedef unsigned CUdeviceptr_v1;
typedef struct CUDA_MEMCPY2D_v1_st CUDA_MEMCPY2D_v1;
typedef struct CUDA_MEMCPY3D_v1_st CUDA_MEMCPY3D_v1;
typedef struct CUDA_ARRAY_DESCRIPTOR_v1_st CUDA_ARRAY_DESCRIPTOR_v1;
typedef struct CUDA_ARRAY3D_DESCRIPTOR_v1_st CUDA_ARRAY3D_DESCRIPTOR_v1;
#define __CUDA_API_VERSION_INTERNAL 1
#include <cudaTypedefs.h>
#undef __CUDA_API_VERSION_INTERNAL

#include "lib/driver/newer.h"

#define GMOD_HOOK(symbol, base, version, flavour) static TK_UNUSED PFN_##base##_v##version##flavour hook_##symbol;
#include "lib/driver/entrypoints.def"

struct every_row {
	const char *symbol, *base;
	int version;
	cuuint64_t flags;
	void **hook;
};

#define GMOD_HOOK(symbol, base, version, flavour) \
	{#symbol, #base, version, sizeof(#flavour) > 1 ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0, \
	 (void **)&hook_##symbol},
static const struct every_row every_rows[] = {
#include "lib/driver/entrypoints.def"
};

enum { EVERY_ROWS = sizeof(every_rows) / sizeof(every_rows[0]), ABSENT = -1 };

static TK_UNUSED void every_by_name(void)
{
	for (int i = 0; i < EVERY_ROWS; i++)
		*every_rows[i].hook = dlsym(RTLD_DEFAULT, every_rows[i].symbol);
}

/* What is newer than the driver says it is stays as it was found by name. */
static TK_UNUSED void every_by_version(void)
{
	int newest;

	CK(cuDriverGetVersion(&newest));
	for (int i = 0; i < EVERY_ROWS; i++)
		if (every_rows[i].version <= newest)
			CK(hook_cuGetProcAddress_v2(every_rows[i].base, every_rows[i].hook, every_rows[i].version,
						    every_rows[i].flags, NULL));
}

static TK_UNUSED unsigned sum_of(const unsigned char *bytes, size_t count)
{
	unsigned sum = 2166136261u;

	while (count--)
		sum = (sum ^ *bytes++) * 16777619u;
	return sum;
}

/* A sum of the device memory, once all work is done. */
static TK_UNUSED void say_bytes(const char *what, CUdeviceptr at, size_t count)
{
	unsigned char text[4096];

	REQUIRE(count <= sizeof(text));
	CK(cuCtxSynchronize());
	CK(cuMemcpyDtoH(text, at, count));
	printf("%s: %08x\n", what, sum_of(text, count));
}

static TK_UNUSED void every_way(void (*calls)(void))
{
	tk_start_first();
	every_by_name();
	calls();
	puts("by version:");
	every_by_version();
	calls();
}

static TK_UNUSED int every_say(const char *symbol, int r)
{
	if (r == ABSENT)
		printf("%s: absent\n", symbol);
	else
		printf("%s: %d\n", symbol, r);
	return r;
}

/* The call's result, printed; ABSENT where the driver lacks it. */
#define SAY(symbol, ...) every_say(#symbol, hook_##symbol ? (int)hook_##symbol(__VA_ARGS__) : ABSENT)
#define BOTH(symbol, suffix, ...) \
	do { \
		every_say(#symbol, hook_##symbol ? (int)hook_##symbol(__VA_ARGS__) : ABSENT); \
		every_say(#symbol #suffix, hook_##symbol##suffix ? (int)hook_##symbol##suffix(__VA_ARGS__) : ABSENT); \
	} while (0)
