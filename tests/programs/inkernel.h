/* For programs whose kernels allocate for themselves: the module of inkernel.cu, and what its kernels are called with.
 */
#ifndef GMOD_TESTS_INKERNEL_H
#define GMOD_TESTS_INKERNEL_H

#include <string.h>

#include "testkit.h"

static CUmodule ik_module;

/* The module that lies beside the one of the test kernels: "kernels.so" and "inkernel.so". */
static TK_UNUSED void ik_start(void)
{
	const char *path = getenv("GMOD_TEST_KERNELS"), *name = path ? strrchr(path, '/') : NULL;
	char here[4096];

	tk_start();
	REQUIRE(name && strncmp(name, "/kernels.", 9) == 0);
	snprintf(here, sizeof(here), "%.*s/inkernel.%s", (int)(name - path), path, name + 9);
	CK(cuModuleLoad(&ik_module, here));
}

static TK_UNUSED CUfunction ik_kernel(const char *name)
{
	return tk_kernel_of(ik_module, name);
}

/* `count` buffers of `size` bytes, by as many threads; where they are lies on the device. */
static TK_UNUSED CUdeviceptr ik_alloc(long long count, long long size)
{
	CUdeviceptr out;

	CK(cuMemAlloc(&out, (size_t)count * sizeof(void *)));
	tk_launch_n(ik_kernel("d_alloc"), count, NULL, TK_ARGS(&out, &count, &size));
	return out;
}

static TK_UNUSED void ik_free(CUdeviceptr p, long long count, long long off)
{
	tk_launch_n(ik_kernel("d_free"), count, NULL, TK_ARGS(&p, &count, &off));
}

static TK_UNUSED void ik_flip(CUdeviceptr p, long long index, long long off, long long count)
{
	tk_launch_n(ik_kernel("d_flip"), count, NULL, TK_ARGS(&p, &index, &off, &count));
}

#endif
