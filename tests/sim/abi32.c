/*
 * The first ABIs, whose device pointers have 32 bits. They exist so that a program or a hook that takes the
 * wrong one of two equal names is told so: none of them does anything.
 */
#include "sim.h"

ENTRY(cuMemAlloc, NEEDS_NOTHING, TAKES(CUdeviceptr_v1 *dptr, unsigned int bytesize), CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemAllocPitch, NEEDS_NOTHING,
      TAKES(CUdeviceptr_v1 *dptr, unsigned int *pPitch, unsigned int WidthInBytes, unsigned int Height,
	    unsigned int ElementSizeBytes),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemFree, NEEDS_NOTHING, TAKES(CUdeviceptr_v1 dptr), CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemGetAddressRange, NEEDS_NOTHING, TAKES(CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemGetInfo, NEEDS_NOTHING, TAKES(unsigned int *free, unsigned int *total), CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemHostGetDevicePointer, NEEDS_NOTHING, TAKES(CUdeviceptr_v1 *pdptr, void *p, unsigned int Flags),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyHtoD, NEEDS_NOTHING, TAKES(CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyDtoH, NEEDS_NOTHING, TAKES(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyDtoD, NEEDS_NOTHING, TAKES(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyDtoA, NEEDS_NOTHING,
      TAKES(CUarray dstArray, unsigned int dstOffset, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyAtoD, NEEDS_NOTHING,
      TAKES(CUdeviceptr_v1 dstDevice, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyHtoA, NEEDS_NOTHING,
      TAKES(CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyAtoH, NEEDS_NOTHING,
      TAKES(void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount), CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyAtoA, NEEDS_NOTHING,
      TAKES(CUarray dstArray, unsigned int dstOffset, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyHtoAAsync, NEEDS_NOTHING,
      TAKES(CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount, CUstream hStream),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyAtoHAsync, NEEDS_NOTHING,
      TAKES(void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount, CUstream hStream),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpy2D, NEEDS_NOTHING, TAKES(const CUDA_MEMCPY2D_v1 *pCopy), CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpy2DUnaligned, NEEDS_NOTHING, TAKES(const CUDA_MEMCPY2D_v1 *pCopy), CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpy3D, NEEDS_NOTHING, TAKES(const CUDA_MEMCPY3D_v1 *pCopy), CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyHtoDAsync, NEEDS_NOTHING,
      TAKES(CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount, CUstream hStream),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyDtoHAsync, NEEDS_NOTHING,
      TAKES(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount, CUstream hStream),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpyDtoDAsync, NEEDS_NOTHING,
      TAKES(CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount, CUstream hStream),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpy2DAsync, NEEDS_NOTHING, TAKES(const CUDA_MEMCPY2D_v1 *pCopy, CUstream hStream), CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemcpy3DAsync, NEEDS_NOTHING, TAKES(const CUDA_MEMCPY3D_v1 *pCopy, CUstream hStream), CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemsetD8, NEEDS_NOTHING, TAKES(CUdeviceptr_v1 dstDevice, unsigned char uc, unsigned int N),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemsetD16, NEEDS_NOTHING, TAKES(CUdeviceptr_v1 dstDevice, unsigned short us, unsigned int N),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemsetD32, NEEDS_NOTHING, TAKES(CUdeviceptr_v1 dstDevice, unsigned int ui, unsigned int N),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemsetD2D8, NEEDS_NOTHING,
      TAKES(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned char uc, unsigned int Width, unsigned int Height),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemsetD2D16, NEEDS_NOTHING,
      TAKES(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned short us, unsigned int Width,
	    unsigned int Height),
      CUDA_ERROR_NOT_SUPPORTED)
ENTRY(cuMemsetD2D32, NEEDS_NOTHING,
      TAKES(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned int ui, unsigned int Width, unsigned int Height),
      CUDA_ERROR_NOT_SUPPORTED)
