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

/* No parameter has that number: it is how a program counts them. The size may be left out. */
static CUresult param_info(const struct gt_kernel *code, size_t i, size_t *offset, size_t *size)
{
	if (!offset || i >= code->params)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = param_offset(code, (unsigned)i);
	if (size)
		*size = code->size[i];
	return CUDA_SUCCESS;
}

ENTRY(cuFuncGetParamInfo, NEEDS_CONTEXT,
      TAKES(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
      refuse_if(!is_function(func), CUDA_ERROR_INVALID_HANDLE)
	  ?: param_info(func->code, paramIndex, paramOffset, paramSize))
ENTRY(cuKernelGetParamInfo, NEEDS_CONTEXT,
      TAKES(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
      refuse_if(!code_of((CUfunction)kernel) || ((CUfunction)kernel)->magic != MAGIC_KERNEL, CUDA_ERROR_INVALID_HANDLE)
	  ?: param_info(code_of((CUfunction)kernel), paramIndex, paramOffset, paramSize))

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
