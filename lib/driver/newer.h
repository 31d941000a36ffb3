/*
 * The types of entry points that came after CUDA 13.0, the oldest toolkit that builds this, as the toolkits up to
 * GMOD_NEWEST_CUDA declare them. Where the toolkit at hand does, the compiler compares the two.
 */
#ifndef GMOD_LIB_DRIVER_NEWER_H
#define GMOD_LIB_DRIVER_NEWER_H

/* Who asks for what came later asks for nothing that the table has. */
#define GMOD_NEWEST_CUDA 13050

#if CUDA_VERSION < 13030
typedef void (*CUgraphRecaptureCallback)(void); /* only passed on */
#endif

typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010)(CUstream, CUhostFn, void *, unsigned);
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010_ptsz)(CUstream, CUhostFn, void *, unsigned);
typedef CUresult(CUDAAPI *PFN_cuMulticastBindMem_v13010)(CUmemGenericAllocationHandle, CUdevice, size_t,
							 CUmemGenericAllocationHandle, size_t, size_t,
							 unsigned long long);
typedef CUresult(CUDAAPI *PFN_cuMulticastBindAddr_v13010)(CUmemGenericAllocationHandle, CUdevice, size_t, CUdeviceptr,
							  size_t, unsigned long long);
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020)(CUdeviceptr, CUdeviceptr, size_t,
								  CUmemcpyAttributes *, CUstream);
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020_ptsz)(CUdeviceptr, CUdeviceptr, size_t,
								       CUmemcpyAttributes *, CUstream);
typedef CUresult(CUDAAPI *PFN_cuMemcpy3DWithAttributesAsync_v13020)(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long,
								    CUstream);
typedef CUresult(CUDAAPI *PFN_cuMemcpy3DWithAttributesAsync_v13020_ptsz)(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long,
									 CUstream);
typedef CUresult(CUDAAPI *PFN_cuStreamBeginRecaptureToGraph_v13030)(CUstream, CUstreamCaptureMode, CUgraph,
								    CUgraphRecaptureCallback, void *);
typedef CUresult(CUDAAPI *PFN_cuStreamBeginRecaptureToGraph_v13030_ptsz)(CUstream, CUstreamCaptureMode, CUgraph,
									 CUgraphRecaptureCallback, void *);
typedef CUresult(CUDAAPI *PFN_cuGraphAddNode_v13040)(CUgraphNode *, CUgraph, const CUgraphNode *,
						     const CUgraphEdgeData *, size_t, CUgraphNodeParams *);
typedef CUresult(CUDAAPI *PFN_cuGraphNodeSetParams_v13040)(CUgraphNode, CUgraphNodeParams *);

#endif
