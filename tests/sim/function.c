/* Questions about a function or kernel. */
#include "sim.h"

static CUresult get_name(const char **out, const struct gt_kernel *code)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!code)
		return CUDA_ERROR_INVALID_HANDLE;
	*out = code->name;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
	struct call c = ENTER(cuFuncGetName, NEEDS_INIT);
	bool kernel = hfunc && hfunc->magic == MAGIC_KERNEL; /* a kernel that is cast has no name here */

	return sim_leave(&c, c.refused ?: get_name(name, kernel ? NULL : code_of(hfunc)));
}

ENTRY(cuKernelGetName, NEEDS_INIT, TAKES(const char **name, CUkernel hfunc), get_name(name, code_of((CUfunction)hfunc)))

static CUresult get_module(CUmodule *out, CUfunction f)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!code_of(f) || f->magic != MAGIC_FUNCTION)
		return CUDA_ERROR_INVALID_HANDLE;
	*out = f->module;
	return CUDA_SUCCESS;
}

ENTRY(cuFuncGetModule, NEEDS_INIT, TAKES(CUmodule *hmod, CUfunction hfunc), get_module(hmod, hfunc))

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
CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
	struct call c = ENTER(cuFuncSetAttribute, NEEDS_CONTEXT);

	(void)value;
	if (!c.refused && !code_of(hfunc))
		c.refused = CUDA_ERROR_INVALID_HANDLE;
	if (!c.refused && (unsigned)attrib >= CU_FUNC_ATTRIBUTE_MAX)
		c.refused = CUDA_ERROR_INVALID_VALUE;
	return sim_leave(&c, c.refused);
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
	struct call c = ENTER(cuFuncSetCacheConfig, NEEDS_CONTEXT);

	(void)config;
	if (!c.refused && !code_of(hfunc))
		c.refused = CUDA_ERROR_INVALID_HANDLE;
	return sim_leave(&c, c.refused);
}

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

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
						     size_t dynamicSMemSize)
{
	struct call c = ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor, NEEDS_CONTEXT);

	(void)dynamicSMemSize;
	return sim_leave(&c, c.refused ?: occupancy(numBlocks, code_of(func), blockSize));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
							      size_t dynamicSMemSize, unsigned int flags)
{
	struct call c = ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, NEEDS_CONTEXT);

	(void)dynamicSMemSize;
	(void)flags;
	return sim_leave(&c, c.refused ?: occupancy(numBlocks, code_of(func), blockSize));
}
