/* A library whose name says that it shares the memory that it allocates with others. */
#include "testkit.h"

__attribute__((visibility("default"))) CUdeviceptr nccl_make_buffer(size_t size)
{
	CUdeviceptr p;

	CK(cuMemAlloc(&p, size));
	return p;
}
