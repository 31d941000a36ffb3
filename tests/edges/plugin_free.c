/* Frees, by the driver that it is linked with. */
#include <cuda.h>

CUresult plugin_free(CUdeviceptr p);
__attribute__((visibility("default"))) CUresult plugin_free(CUdeviceptr p)
{
	return cuMemFree(p);
}
