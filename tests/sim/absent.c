/*
 * What a driver has and nothing here simulates: mostly the first ABIs, whose device pointers have 32 bits, so that a
 * program or a hook that takes the wrong one of two equal names is told so. None of them does anything, so what they
 * are given does not matter.
 */
#include "sim.h"

#define ANSWERS(symbol, result) \
	__attribute__((visibility("default"))) CUresult absent_##symbol(void) __asm__(#symbol); \
	CUresult absent_##symbol(void) \
	{ \
		struct call c = ENTER(symbol, NEEDS_NOTHING); \
\
		return sim_leave(&c, c.refused ?: (result)); \
	}
#define ABSENT(symbol) ANSWERS(symbol, CUDA_ERROR_NOT_SUPPORTED)

#define GMOD_PLAIN(symbol, base, version, flavour) ABSENT(symbol)
#include "plain.def"
ABSENT(cuMemAlloc_v3)

/* What GMOD only counts says that it is done. */
#define COUNTED(symbol) ANSWERS(symbol, CUDA_SUCCESS)
COUNTED(cuLinkCreate_v2)
COUNTED(cuLinkAddData_v2)
COUNTED(cuLinkAddFile_v2)
COUNTED(cuLinkDestroy)
COUNTED(cuMemImportFromShareableHandle)
COUNTED(cuMemPoolImportPointer)
COUNTED(cuExternalMemoryGetMappedBuffer)
COUNTED(cuGraphicsResourceGetMappedPointer_v2)
COUNTED(cuMulticastBindMem)
COUNTED(cuMulticastBindMem_v2)
COUNTED(cuMulticastBindAddr)
COUNTED(cuMulticastBindAddr_v2)
COUNTED(cuMemBatchDecompressAsync)
COUNTED(cuMemBatchDecompressAsync_ptsz)
