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
ENTRY(cuFuncGetModule, NEEDS_INIT, TAKES(CUmodule *hmod, CUfunction hfunc),
      ANSWER_OF(is_function(hfunc), CUDA_ERROR_INVALID_HANDLE, hmod, hfunc->module))

static CUresult get_attribute(int *out, CUfunction_attribute attribute, const struct gt_kernel *code)
{
	static const int values[CU_FUNC_ATTRIBUTE_MAX] = {
	    [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
	    [CU_FUNC_ATTRIBUTE_NUM_REGS] = 32,
	    [CU_FUNC_ATTRIBUTE_PTX_VERSION] = 90,
	    [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = 90,
	    [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = 49152,
	    [CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = -1,
	};

	if (!out || (unsigned)attribute >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!code)
		return CUDA_ERROR_INVALID_HANDLE;
	*out = values[attribute];
	return CUDA_SUCCESS;
}

ENTRY(cuFuncGetAttribute, NEEDS_CONTEXT, TAKES(int *pi, CUfunction_attribute attrib, CUfunction hfunc),
      get_attribute(pi, attrib, code_of(hfunc)))
ENTRY(cuKernelGetAttribute, NEEDS_INIT, TAKES(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev),
      refuse_if(!device_exists(dev), CUDA_ERROR_INVALID_DEVICE)
	  ?: get_attribute(pi, attrib, code_of((CUfunction)kernel)))

/* Accepted, and without effect: a simulated kernel has neither registers nor shared memory. */
ENTRY(cuFuncSetAttribute, NEEDS_CONTEXT, TAKES(CUfunction hfunc, CUfunction_attribute attrib, int value),
      refuse_if(!code_of(hfunc), CUDA_ERROR_INVALID_HANDLE)
	  ?: refuse_if((unsigned)attrib >= CU_FUNC_ATTRIBUTE_MAX, CUDA_ERROR_INVALID_VALUE))
ENTRY(cuFuncSetCacheConfig, NEEDS_CONTEXT, TAKES(CUfunction hfunc, CUfunc_cache config),
      refuse_if(!code_of(hfunc), CUDA_ERROR_INVALID_HANDLE))

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

static CUresult param_info(const struct gt_kernel *code, size_t index, size_t *offset, size_t *size)
{
	if (!code)
		return CUDA_ERROR_INVALID_HANDLE;
	if (index >= code->params || !offset)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = param_offset(code, index);
	if (size)
		*size = code->size[index];
	return CUDA_SUCCESS;
}

ENTRY(cuFuncGetParamInfo, NEEDS_INIT, TAKES(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
      param_info(code_of(func), paramIndex, paramOffset, paramSize))
ENTRY(cuKernelGetParamInfo, NEEDS_INIT,
      TAKES(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
      param_info(code_of((CUfunction)kernel), paramIndex, paramOffset, paramSize))

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
ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, NEEDS_CONTEXT,
      TAKES(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize, unsigned int flags),
      occupancy(numBlocks, code_of(func), blockSize))
