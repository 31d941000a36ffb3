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

typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010)(CUstream hStream, CUhostFn fn, void *userData,
						       unsigned int syncMode);
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010_ptsz)(CUstream hStream, CUhostFn fn, void *userData,
							    unsigned int syncMode);
typedef CUresult(CUDAAPI *PFN_cuMulticastBindMem_v13010)(CUmemGenericAllocationHandle mcHandle, CUdevice dev,
							 size_t mcOffset, CUmemGenericAllocationHandle memHandle,
							 size_t memOffset, size_t size, unsigned long long flags);
typedef CUresult(CUDAAPI *PFN_cuMulticastBindAddr_v13010)(CUmemGenericAllocationHandle mcHandle, CUdevice dev,
							  size_t mcOffset, CUdeviceptr memptr, size_t size,
							  unsigned long long flags);
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020)(CUdeviceptr dst, CUdeviceptr src, size_t size,
								  CUmemcpyAttributes *attr, CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020_ptsz)(CUdeviceptr dst, CUdeviceptr src, size_t size,
								       CUmemcpyAttributes *attr, CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuMemcpy3DWithAttributesAsync_v13020)(CUDA_MEMCPY3D_BATCH_OP *op,
								    unsigned long long flags, CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuMemcpy3DWithAttributesAsync_v13020_ptsz)(CUDA_MEMCPY3D_BATCH_OP *op,
									 unsigned long long flags, CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuStreamBeginRecaptureToGraph_v13030)(CUstream hStream, CUstreamCaptureMode mode,
								    CUgraph hGraph, CUgraphRecaptureCallback callback,
								    void *userData);
typedef CUresult(CUDAAPI *PFN_cuStreamBeginRecaptureToGraph_v13030_ptsz)(CUstream hStream, CUstreamCaptureMode mode,
									 CUgraph hGraph,
									 CUgraphRecaptureCallback callback,
									 void *userData);
typedef CUresult(CUDAAPI *PFN_cuGraphAddNode_v13040)(CUgraphNode *phGraphNode, CUgraph hGraph,
						     const CUgraphNode *dependencies,
						     const CUgraphEdgeData *dependencyData, size_t numDependencies,
						     CUgraphNodeParams *nodeParams);
typedef CUresult(CUDAAPI *PFN_cuGraphNodeSetParams_v13040)(CUgraphNode hNode, CUgraphNodeParams *nodeParams);

#endif
