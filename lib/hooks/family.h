/*
 * Entry points that are one function of their family (role BY in lib/driver/entrypoints.def). r is what the driver has
 * said, next the driver's function.
 */
#ifndef GMOD_LIB_HOOKS_FAMILY_H
#define GMOD_LIB_HOOKS_FAMILY_H

#include "lib/hooks/hook.h"

/* lib/hooks/context.c: one that is to have dumps of its own; one that was made, or is current now; and their ends. */
void gmod_leave_dumps(unsigned flags);
CUresult gmod_context_used(CUresult r, const CUcontext *context, const char *entry_point);
CUresult gmod_destroy_context(CUcontext context, CUresult (*next)(CUcontext), const char *entry_point);
enum gmod_letting_go { GMOD_RELEASE, GMOD_RESET };
CUresult gmod_let_go_of(CUdevice device, enum gmod_letting_go how, CUresult (*next)(CUdevice), const char *entry_point);

/* lib/hooks/graph.c */
CUresult gmod_capture_over(CUresult r, const char *entry_point);
CUresult gmod_instantiated(CUresult r, const CUgraphExec *exec, CUgraph graph, const char *entry_point);

/* lib/hooks/module.c: a module or a library, of an image or a file; the others are NULL. */
CUresult gmod_loaded(CUresult r, const char *entry_point);
CUresult gmod_image_loaded(CUresult r, const CUmodule *module, const CUlibrary *library, const void *image,
			   const char *file, const char *entry_point);

/* lib/hooks/pool.c */
CUresult gmod_free_in_order(CUdeviceptr p, CUstream stream, enum gmod_flavour flavour, PFN_cuMemFreeAsync_v11020 next,
			    const char *entry_point);
CUresult gmod_node_added(CUresult r, const CUgraphNodeParams *params, const char *entry_point);

/* lib/hooks/advice.c */
CUresult gmod_attach(CUstream stream, CUdeviceptr address, size_t length, unsigned flags,
		     PFN_cuStreamAttachMemAsync_v6000 next, const char *entry_point);

#endif
