/*
 * What a driver has and nothing here simulates: the first ABIs, whose device pointers have 32 bits, so that a program
 * or a hook that takes the wrong one of two equal names is told so; and names that GMOD hooks and no test calls. None
 * of them does anything, so what they are given does not matter.
 */
#include "sim.h"

#define ABSENT(symbol) \
	__attribute__((visibility("default"))) CUresult absent_##symbol(void) __asm__(#symbol); \
	CUresult absent_##symbol(void) \
	{ \
		struct call c = ENTER(symbol, NEEDS_NOTHING); \
\
		return sim_leave(&c, c.refused ?: CUDA_ERROR_NOT_SUPPORTED); \
	}
#define ABSENT_TWINS(symbol, suffix) ABSENT(symbol) ABSENT(symbol##suffix)

#define GMOD_PLAIN(symbol, base, version, flavour) ABSENT(symbol)
#include "../../lib/driver/entrypoints.def"

ABSENT_TWINS(cuMemcpyDtoA_v2, _ptds)
ABSENT_TWINS(cuMemcpyAtoD_v2, _ptds)
ABSENT_TWINS(cuMemcpyHtoA_v2, _ptds)
ABSENT_TWINS(cuMemcpyAtoH_v2, _ptds)
ABSENT_TWINS(cuMemcpyAtoA_v2, _ptds)
ABSENT_TWINS(cuMemcpyHtoAAsync_v2, _ptsz)
ABSENT_TWINS(cuMemcpyAtoHAsync_v2, _ptsz)
ABSENT_TWINS(cuMemcpyPeerAsync, _ptsz)
ABSENT_TWINS(cuMemcpy3DBatchAsync, _ptsz)
ABSENT_TWINS(cuMemcpy2DUnaligned_v2, _ptds)
ABSENT_TWINS(cuMemcpy3DPeer, _ptds)
ABSENT_TWINS(cuMemcpy3DPeerAsync, _ptsz)
ABSENT(cuMemRangeGetAttributes)
ABSENT_TWINS(cuMemPrefetchBatchAsync, _ptsz)
ABSENT_TWINS(cuMemDiscardBatchAsync, _ptsz)
ABSENT_TWINS(cuMemDiscardAndPrefetchBatchAsync, _ptsz)
ABSENT_TWINS(cuMemAllocFromPoolAsync, _ptsz)
ABSENT(cuLaunchCooperativeKernelMultiDevice)
ABSENT_TWINS(cuEventRecordWithFlags, _ptsz)
ABSENT(cuCtxRecordEvent)
ABSENT(cuCtxWaitEvent)
ABSENT_TWINS(cuStreamBeginCaptureToGraph, _ptsz)
ABSENT(cuModuleLoadData)
ABSENT(cuModuleLoadDataEx)
ABSENT(cuModuleLoadFatBinary)
ABSENT(cuLibraryLoadData)
ABSENT(cuGraphAddNode)
ABSENT(cuGraphAddNode_v2)
ABSENT(cuGraphAddNode_v3)
ABSENT(cuGraphInstantiate)
ABSENT(cuGraphInstantiate_v2)
ABSENT(cuCtxCreate_v3)
ABSENT_TWINS(cuGraphInstantiateWithParams, _ptsz)
