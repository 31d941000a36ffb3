/* Makes contexts by a call that GMOD does not hook, as the driver's own for OpenGL and VDPAU do (bad_interop_*). */
#include <cuda.h>
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("default"))) CUresult make_interop_context(CUcontext *context, CUdevice device)
{
	CUresult (*create)(CUcontext *, unsigned, CUdevice);

	*(void **)&create = dlsym(RTLD_NEXT, "cuCtxCreate_v2");
	return create ? create(context, 0, device) : CUDA_ERROR_NOT_FOUND;
}
