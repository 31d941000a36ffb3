#include "lib/hooks/journal.h"

#include "lib/base/facts.h"
#include "lib/context/context.h"

int32_t gmod_journal_device(uint64_t context, int32_t *capability)
{
	const struct gmod_context *c = gmod_context_known((CUcontext)(uintptr_t)context);
	int device = c ? c->device : 0, major = 0, minor = 0;

	if ((!c && NEXT(cuCtxGetDevice)(&device) != CUDA_SUCCESS) ||
	    NEXT(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) != CUDA_SUCCESS ||
	    NEXT(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) != CUDA_SUCCESS)
		gmod_degraded("asking for a device's capability");
	*capability = major * 10 + minor;
	return device;
}

void gmod_journal_hook(const struct gmod_thread *t, const struct gmod_launch *l, unsigned shared,
		       const CUlaunchConfig *config)
{
	struct gmod_journal_shape s = {.shared = shared};

	for (int i = 0; i < 3; i++) {
		s.grid[i] = atomic_load_explicit(&l->grid[i], memory_order_relaxed);
		s.block[i] = atomic_load_explicit(&l->block[i], memory_order_relaxed);
		if (!s.grid[i] || !s.block[i])
			return; /* the driver will refuse it */
	}
	for (unsigned i = 0; config && config->attrs && i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
			s.cluster[0] = config->attrs[i].value.clusterDim.x;
			s.cluster[1] = config->attrs[i].value.clusterDim.y;
			s.cluster[2] = config->attrs[i].value.clusterDim.z;
		}
	gmod_journal_launch(t, atomic_load_explicit(&l->function, memory_order_relaxed),
			    atomic_load_explicit(&l->context, memory_order_relaxed), &s, NULL, NULL);
}
