/* Questions about a function or kernel. */
#include "sim.h"

/* A kernel that is cast is none, and has neither name nor module. */
static bool is_function(CUfunction f)
{
	return code_of(f) && f->magic == MAGIC_FUNCTION;
}

ENTRY(cuFuncGetName, NEEDS_INIT, TAKES(const char **name, CUfunction hfunc),
      ANSWER_OF(is_function(hfunc), CUDA_ERROR_INVALID_HANDLE, name, hfunc->code->name))
ENTRY(cuKernelGetName, NEEDS_INIT, TAKES(const char **name, CUkernel hfunc),
      ANSWER_OF(code_of((CUfunction)hfunc), CUDA_ERROR_INVALID_HANDLE, name, code_of((CUfunction)hfunc)->name))

/* Accepted, and without effect: a simulated kernel has neither registers nor shared memory. */
ENTRY(cuFuncSetAttribute, NEEDS_CONTEXT, TAKES(CUfunction hfunc, CUfunction_attribute attrib, int value),
      refuse_if(!code_of(hfunc), CUDA_ERROR_INVALID_HANDLE)
	  ?: refuse_if((unsigned)attrib >= CU_FUNC_ATTRIBUTE_MAX, CUDA_ERROR_INVALID_VALUE))

/* Where parameter i lies in a buffer of all of them. */
size_t param_offset(const struct gt_kernel *code, unsigned i)
{
	size_t offset = 0;

	for (unsigned p = 0; p <= i; p++) {
		size_t align = code->size[p] < 16 ? code->size[p] : 16;

		offset = (offset + align - 1) / align * align;
		if (p < i)
			offset += code->size[p];
	}
	return offset;
}

static CUresult occupancy(int *out, const struct gt_kernel *code, int threads)
{
	if (!out || threads <= 0 || threads > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	if (!code)
		return CUDA_ERROR_INVALID_HANDLE;
	*out = 2048 / threads > 32 ? 32 : 2048 / threads;
	return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, NEEDS_CONTEXT,
      TAKES(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize),
      occupancy(numBlocks, code_of(func), blockSize))
