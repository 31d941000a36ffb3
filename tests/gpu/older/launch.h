/*
 * The kernels of the corpus, and the two ways to launch them.
 *
 * They are PTX that is older than each runtime. The driver loads it in the runtime's context; or it is registered with
 * the runtime, as programs do that nvcc made. The simulated driver takes no PTX: GMOD_TEST_KERNELS names a module with
 * the same kernels.
 */
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Of the driver; the packages of a runtime need not have its header. */
int cuModuleLoad(void **module, const char *path);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
		   unsigned block_y, unsigned block_z, unsigned shared, cudaStream_t stream, void **arguments,
		   void **extra);

/* Of the runtime; only compilers call them. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *thread,
			    void *block, void *block_size, void *grid_size, int *warps);

/* RT(call): the case goes on only if the answer is 0, a success. */
#define RT(call) must_be(0, (call), #call, __FILE__, __LINE__)

static void must_be(int wanted, int result, const char *call, const char *file, int line)
{
	if (result == wanted)
		return;
	fflush(stdout);
	fprintf(stderr, "%s:%d: %s: %d\n", file, line, call, result);
	exit(3);
}

/* k_flip: the bytes p[off .. off + count) xor 0x5a, a thread each. k_illegal: a store to an address. */
#define PTX \
	".version 7.0\n" \
	".target sm_50\n" \
	".address_size 64\n" \
	".visible .entry k_flip(.param .u64 p, .param .u64 off, .param .u64 count)\n" \
	"{\n" \
	"	.reg .pred %beyond;\n" \
	"	.reg .b16 %byte;\n" \
	"	.reg .b32 %thread, %threads, %block;\n" \
	"	.reg .b64 %i, %p, %off, %count;\n" \
	"	mov.u32 %thread, %tid.x;\n" \
	"	mov.u32 %threads, %ntid.x;\n" \
	"	mov.u32 %block, %ctaid.x;\n" \
	"	mad.lo.u32 %thread, %block, %threads, %thread;\n" \
	"	cvt.u64.u32 %i, %thread;\n" \
	"	ld.param.u64 %count, [count];\n" \
	"	setp.ge.s64 %beyond, %i, %count;\n" \
	"	@%beyond ret;\n" \
	"	ld.param.u64 %p, [p];\n" \
	"	ld.param.u64 %off, [off];\n" \
	"	add.s64 %p, %p, %off;\n" \
	"	add.s64 %p, %p, %i;\n" \
	"	ld.u8 %byte, [%p];\n" \
	"	xor.b16 %byte, %byte, 0x5a;\n" \
	"	st.u8 [%p], %byte;\n" \
	"	ret;\n" \
	"}\n" \
	".visible .entry k_illegal(.param .u64 address, .param .u32 value)\n" \
	"{\n" \
	"	.reg .b32 %value;\n" \
	"	.reg .b64 %address;\n" \
	"	ld.param.u64 %address, [address];\n" \
	"	ld.param.u32 %value, [value];\n" \
	"	st.u8 [%address], %value;\n" \
	"	ret;\n" \
	"}\n"

enum kernel { K_FLIP, K_ILLEGAL, KERNELS };

static const char *const names[KERNELS] = {"k_flip", "k_illegal"};

typedef void launch_fn(enum kernel kernel, unsigned blocks, cudaStream_t stream, void **arguments);

static void *functions[KERNELS]; /* in the context that is current */

/* Before any capture, which may forbid it. */
static void load_kernels(void)
{
	const char *path = getenv("GMOD_TEST_KERNELS");
	void *module;

	if (path)
		RT(cuModuleLoad(&module, path));
	else
		RT(cuModuleLoadData(&module, PTX));
	for (int i = 0; i < KERNELS; i++)
		RT(cuModuleGetFunction(&functions[i], module, names[i]));
}

static void by_driver(enum kernel kernel, unsigned blocks, cudaStream_t stream, void **arguments)
{
	RT(cuLaunchKernel(functions[kernel], blocks, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
}

/* What nvcc hands the runtime, as fatbinary writes it: a head, the head of the only entry, and its text. */
static const struct {
	uint32_t magic;
	uint16_t version, head;
	uint64_t rest;
	uint16_t kind, entry_version;
	uint32_t entry_head;
	uint64_t length;
	uint32_t compressed, options_at;
	uint16_t minor, major;
	uint32_t target;
	uint64_t name, flags, zero, uncompressed, options[2];
	char text[(sizeof(PTX) + 7) / 8 * 8];
} fat = {
    .magic = 0xba55ed50,
    .version = 1,
    .head = 16,
    .rest = 80 + sizeof(fat.text),
    .kind = 1,
    .entry_version = 0x101,
    .entry_head = 80,
    .length = sizeof(fat.text),
    .options_at = 64,
    .major = 7,
    .target = 50,
    .flags = 0x11,
    .options = {72},
    .text = PTX,
};

_Static_assert(offsetof(__typeof__(fat), text) == 16 + 80, "the heads have no gaps");

/* Names a kernel to the runtime by the address of its own; nobody calls it. */
static char stands_for[KERNELS];

/* As a program does that nvcc made, before anything else. */
static void register_kernels(void)
{
	static struct {
		int magic, version;
		const void *data, *files;
	} wrapper = {0x466243b1, 1, &fat, NULL};
	void **handle = __cudaRegisterFatBinary(&wrapper);

	for (int i = 0; i < KERNELS; i++)
		__cudaRegisterFunction(handle, &stands_for[i], (char *)names[i], names[i], -1, NULL, NULL, NULL, NULL,
				       NULL);
	__cudaRegisterFatBinaryEnd(handle);
}

static void by_runtime(enum kernel kernel, unsigned blocks, cudaStream_t stream, void **arguments)
{
	RT(cudaLaunchKernel(&stands_for[kernel], (dim3){blocks, 1, 1}, (dim3){128, 1, 1}, arguments, 0, stream));
}
