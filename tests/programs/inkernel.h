/* For programs whose kernels allocate for themselves: the module of inkernel.cu, and what its kernels are given. */
#pragma once

#include "testkit.h"

#include "include/gmod/device_heap.h"

static CUmodule ik_module;

/* How many findings have been seen: NULL where the program runs alone. See include/gmod.h. */
extern unsigned gmod_findings_seen(void) __attribute__((weak));

/* The file that lies beside the one of the test kernels: "kernels.so" and "inkernel.so". */
static TK_UNUSED const char *ik_file(void)
{
	const char *path = getenv("GMOD_TEST_KERNELS"), *name = path ? strrchr(path, '/') : NULL;
	static char here[4096];

	REQUIRE(name && strncmp(name, "/kernels.", 9) == 0);
	snprintf(here, sizeof(here), "%.*s/inkernel.%s", (int)(name - path), path, name + 9);
	return here;
}

static TK_UNUSED void ik_start(void)
{
	tk_start();
	CK(cuModuleLoad(&ik_module, ik_file()));
}

/* ... where the program has not started in a way of its own. */
static TK_UNUSED void ik_start_first(void)
{
	if (!tk_started)
		ik_start();
}

/* The same in a context of its own. */
static TK_UNUSED CUcontext ik_start_in_new_context(void)
{
	CUcontext context = tk_start_in_new_context();

	CK(cuModuleLoad(&ik_module, ik_file()));
	return context;
}

/* Another module of these kernels, with variables of its own: the simulator tells modules apart by their files. */
static TK_UNUSED CUmodule ik_another(void)
{
	static int copies;
	char copy[32], bytes[65536];
	FILE *from, *to;
	CUmodule module;
	size_t n;

	ik_start_first();
	snprintf(copy, sizeof(copy), "./another-%d", ++copies);
	from = fopen(ik_file(), "r");
	to = fopen(copy, "w");
	REQUIRE(from && to);
	while ((n = fread(bytes, 1, sizeof(bytes), from)))
		REQUIRE(fwrite(bytes, 1, n, to) == n);
	fclose(from);
	REQUIRE(fclose(to) == 0);
	CK(cuModuleLoad(&module, copy));
	REQUIRE(unlink(copy) == 0);
	return module;
}

static TK_UNUSED CUfunction ik_kernel(const char *name)
{
	ik_start_first();
	return tk_kernel_of(ik_module, name);
}

/* What these kernels know of their heap: all zeros where there is none. */
static TK_UNUSED struct gmod_device_heap ik_heap(void)
{
	struct gmod_device_heap heap;
	CUdeviceptr at;
	size_t size;

	CK(cuModuleGetGlobal(&at, &size, ik_module, "gmod_unit_heap"));
	REQUIRE(size == sizeof(heap));
	CK(cuMemcpyDtoH(&heap, at, sizeof(heap)));
	return heap;
}

/* Room on the device for so many addresses. */
static TK_UNUSED CUdeviceptr ik_array(long long count)
{
	ik_start_first();
	return tk_alloc((size_t)count * sizeof(void *));
}

/*
 * Buffers of size, size + step, ... bytes, by as many threads of a kernel of this module; where they are lies on the
 * device.
 */
static TK_UNUSED CUdeviceptr ik_alloc_of(CUmodule module, long long count, long long size, long long step)
{
	CUdeviceptr out = ik_array(count);

	tk_launch_n(tk_kernel_of(module, "d_alloc"), count, NULL, TK_ARGS(&out, &count, &size, &step));
	return out;
}

static TK_UNUSED CUdeviceptr ik_alloc_sizes(long long count, long long size, long long step)
{
	ik_start_first();
	return ik_alloc_of(ik_module, count, size, step);
}

static TK_UNUSED CUdeviceptr ik_alloc(long long count, long long size)
{
	ik_start_first();
	return ik_alloc_of(ik_module, count, size, 0);
}

/* Where they are. */
static TK_UNUSED void ik_addresses(CUdeviceptr p, size_t count, uint64_t *out)
{
	tk_sync();
	CK(cuMemcpyDtoH(out, p, count * sizeof(*out)));
}

/* A zeroed int on the device. */
static TK_UNUSED CUdeviceptr ik_counter(void)
{
	CUdeviceptr counter;

	ik_start_first();
	counter = tk_alloc(sizeof(int));
	CK(cuMemsetD32(counter, 0, 1));
	tk_sync();
	return counter;
}

/* What it holds when all work is done. */
static TK_UNUSED int ik_count(CUdeviceptr counter)
{
	int count;

	tk_sync();
	CK(cuMemcpyDtoH(&count, counter, sizeof(count)));
	return count;
}

static TK_UNUSED void ik_free(CUdeviceptr p, long long count, long long off)
{
	tk_launch_n(ik_kernel("d_free"), count, NULL, TK_ARGS(&p, &count, &off));
}

static TK_UNUSED void ik_flip(CUdeviceptr p, long long index, long long off, long long count)
{
	tk_launch_n(ik_kernel("d_flip"), count, NULL, TK_ARGS(&p, &index, &off, &count));
}
