/*
 * The first ABIs, whose device pointers have 32 bits. They exist so that a program or a hook that takes the
 * wrong one of two equal names is told so: none of them does anything.
 */
#include "sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static CUresult refuse(const char *symbol, const void *caller)
{
	struct call c = sim_enter(symbol, NEEDS_NOTHING, caller);

	return sim_leave(&c, c.refused ?: CUDA_ERROR_NOT_SUPPORTED);
}

CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize)
{
	return refuse("cuMemAlloc", __builtin_return_address(0));
}

CUresult cuMemAllocPitch(CUdeviceptr_v1 *dptr, unsigned int *pPitch, unsigned int WidthInBytes, unsigned int Height,
			 unsigned int ElementSizeBytes)
{
	return refuse("cuMemAllocPitch", __builtin_return_address(0));
}

CUresult cuMemFree(CUdeviceptr_v1 dptr)
{
	return refuse("cuMemFree", __builtin_return_address(0));
}

CUresult cuMemGetAddressRange(CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr)
{
	return refuse("cuMemGetAddressRange", __builtin_return_address(0));
}

CUresult cuMemGetInfo(unsigned int *free, unsigned int *total)
{
	return refuse("cuMemGetInfo", __builtin_return_address(0));
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr_v1 *pdptr, void *p, unsigned int Flags)
{
	return refuse("cuMemHostGetDevicePointer", __builtin_return_address(0));
}

CUresult cuMemcpyHtoD(CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount)
{
	return refuse("cuMemcpyHtoD", __builtin_return_address(0));
}

CUresult cuMemcpyDtoH(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount)
{
	return refuse("cuMemcpyDtoH", __builtin_return_address(0));
}

CUresult cuMemcpyDtoD(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount)
{
	return refuse("cuMemcpyDtoD", __builtin_return_address(0));
}

CUresult cuMemcpyDtoA(CUarray dstArray, unsigned int dstOffset, CUdeviceptr_v1 srcDevice, unsigned int ByteCount)
{
	return refuse("cuMemcpyDtoA", __builtin_return_address(0));
}

CUresult cuMemcpyAtoD(CUdeviceptr_v1 dstDevice, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount)
{
	return refuse("cuMemcpyAtoD", __builtin_return_address(0));
}

CUresult cuMemcpyHtoA(CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount)
{
	return refuse("cuMemcpyHtoA", __builtin_return_address(0));
}

CUresult cuMemcpyAtoH(void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount)
{
	return refuse("cuMemcpyAtoH", __builtin_return_address(0));
}

CUresult cuMemcpyAtoA(CUarray dstArray, unsigned int dstOffset, CUarray srcArray, unsigned int srcOffset,
		      unsigned int ByteCount)
{
	return refuse("cuMemcpyAtoA", __builtin_return_address(0));
}

CUresult cuMemcpyHtoAAsync(CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount,
			   CUstream hStream)
{
	return refuse("cuMemcpyHtoAAsync", __builtin_return_address(0));
}

CUresult cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount,
			   CUstream hStream)
{
	return refuse("cuMemcpyAtoHAsync", __builtin_return_address(0));
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D_v1 *pCopy)
{
	return refuse("cuMemcpy2D", __builtin_return_address(0));
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D_v1 *pCopy)
{
	return refuse("cuMemcpy2DUnaligned", __builtin_return_address(0));
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D_v1 *pCopy)
{
	return refuse("cuMemcpy3D", __builtin_return_address(0));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount, CUstream hStream)
{
	return refuse("cuMemcpyHtoDAsync", __builtin_return_address(0));
}

CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount, CUstream hStream)
{
	return refuse("cuMemcpyDtoHAsync", __builtin_return_address(0));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount, CUstream hStream)
{
	return refuse("cuMemcpyDtoDAsync", __builtin_return_address(0));
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D_v1 *pCopy, CUstream hStream)
{
	return refuse("cuMemcpy2DAsync", __builtin_return_address(0));
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D_v1 *pCopy, CUstream hStream)
{
	return refuse("cuMemcpy3DAsync", __builtin_return_address(0));
}

CUresult cuMemsetD8(CUdeviceptr_v1 dstDevice, unsigned char uc, unsigned int N)
{
	return refuse("cuMemsetD8", __builtin_return_address(0));
}

CUresult cuMemsetD16(CUdeviceptr_v1 dstDevice, unsigned short us, unsigned int N)
{
	return refuse("cuMemsetD16", __builtin_return_address(0));
}

CUresult cuMemsetD32(CUdeviceptr_v1 dstDevice, unsigned int ui, unsigned int N)
{
	return refuse("cuMemsetD32", __builtin_return_address(0));
}

CUresult cuMemsetD2D8(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned char uc, unsigned int Width,
		      unsigned int Height)
{
	return refuse("cuMemsetD2D8", __builtin_return_address(0));
}

CUresult cuMemsetD2D16(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned short us, unsigned int Width,
		       unsigned int Height)
{
	return refuse("cuMemsetD2D16", __builtin_return_address(0));
}

CUresult cuMemsetD2D32(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned int ui, unsigned int Width,
		       unsigned int Height)
{
	return refuse("cuMemsetD2D32", __builtin_return_address(0));
}
