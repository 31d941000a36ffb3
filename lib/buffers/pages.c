#include "lib/buffers/pages.h"

#include "lib/base/map.h"

void *gmod_pages(size_t size)
{
	void *pages = gmod_map(size);

	if (pages)
		madvise(pages, size, MADV_DONTFORK);
	return pages;
}

bool gmod_pages_register(void *pages, size_t size, unsigned flags)
{
	CUresult r = NEXT(cuMemHostRegister_v2)(pages, size, flags);

	if (r == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED && NEXT(cuMemHostUnregister)(pages) == CUDA_SUCCESS)
		r = NEXT(cuMemHostRegister_v2)(pages, size, flags);
	return r == CUDA_SUCCESS;
}
