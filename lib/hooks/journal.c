#include "lib/hooks/journal.h"

#include "lib/base/asked.h"
#include "lib/base/facts.h"
#include "lib/context/current.h"
#include "monitor/launches/arguments.h"

/* 90 for 9.0. */
static unsigned ask_for_capability(int device)
{
	int major = 0, minor = 0;

	if (NEXT(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) != CUDA_SUCCESS ||
	    NEXT(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) != CUDA_SUCCESS)
		gmod_degraded("asking for a device's capability");
	return (unsigned)(10 * major + minor);
}

static uint32_t capability_in(uint64_t context)
{
	static struct gmod_asked asked;
	const struct gmod_context *c = gmod_context_known((CUcontext)(uintptr_t)context);

	return c ? gmod_ask_once(&asked, c->device, ask_for_capability) : 0;
}

void gmod_journal_hook(const struct gmod_thread *t, const struct gmod_launch *l, struct gmod_journal_shape *shape,
		       const CUlaunchConfig *config)
{
	const struct gmod_signature *s;
	const void *arguments = gmod_arguments_latest(t, &s);

	for (int i = 0; i < 3; i++)
		if (!shape->grid[i] || !shape->block[i])
			return; /* the driver will refuse it */
	for (unsigned i = 0; config && config->attrs && i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			memcpy(shape->cluster, &config->attrs[i].value.clusterDim, sizeof(shape->cluster));
	shape->capability = capability_in(atomic_load_explicit(&l->context, memory_order_relaxed));
	gmod_journal_launch(atomic_load_explicit(&l->function, memory_order_relaxed), shape, s, arguments);
}

void gmod_journal_node(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *p, uint64_t function,
		       const struct gmod_signature *s)
{
	struct gmod_journal_shape shape = {{p->gridDimX, p->gridDimY, p->gridDimZ},
					   {p->blockDimX, p->blockDimY, p->blockDimZ},
					   .shared = p->sharedMemBytes,
					   .is_graph = true,
					   .capability = capability_in(gmod_current_context())};
	uint64_t arguments[GMOD_SIGNATURE_BYTES / 8];
	CUkernelNodeAttrValue v;

	if (s && s->count && !p->kernelParams)
		s = NULL;
	for (int i = 0; s && i < s->count; i++)
		memcpy((char *)arguments + s->at[i].offset, p->kernelParams[s->at[i].number], s->at[i].size);
	if (HAVE(cuGraphKernelNodeGetAttribute) &&
	    NEXT(cuGraphKernelNodeGetAttribute)(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v) == CUDA_SUCCESS)
		memcpy(shape.cluster, &v.clusterDim, sizeof(shape.cluster));
	gmod_journal_launch(function, &shape, s, arguments);
}
