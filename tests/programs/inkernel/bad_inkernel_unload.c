// case: bad_inkernel_unloaded at_once
// case: bad_inkernel_unloaded_beside_capture beside_capture
// case: bad_inkernel_unload_refused refused
// case: bad_inkernel_module_unloaded of_another
// expect: heap-buffer-overflow size 60 offset +0
// suspect: d_flip
/* A module with kernels that allocate is unloaded. */
#include "inkernel.h"

static long long at = 9, off = 60, one = 1;

/* The only one, while the kernel that does it has not begun: unloading waits, and what it did is looked for then. */
static TK_UNUSED void at_once(void)
{
	CUdeviceptr p = ik_alloc(20, 60);

	tk_spin(NULL, 100);
	ik_flip(p, at, off, one);
	CK(cuModuleUnload(ik_module));
}

/* The same while a stream captures, which goes on. */
static TK_UNUSED void beside_capture(void)
{
	CUdeviceptr p = ik_alloc(20, 60);
	CUstream stream = tk_stream(), captured = tk_stream();
	CUgraph graph;

	tk_sync();
	CK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
	tk_spin(captured, 1);
	tk_spin(stream, 100);
	tk_launch_n(ik_kernel("d_flip"), 1, stream, TK_ARGS(&p, &at, &off, &one));
	CK(cuModuleUnload(ik_module));
	CK(cuStreamEndCapture(captured, &graph));
	CK(cuGraphDestroy(graph));
	CK(cuStreamDestroy(captured));
	CK(cuStreamDestroy(stream));
}

/* The only one is not unloaded, because a stream captures: it is guarded as before. */
static TK_UNUSED void refused(void)
{
	CUdeviceptr p = ik_alloc(20, 60);
	CUstream captured = tk_stream();
	CUgraph graph = NULL;

	tk_sync();
	CK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
	REQUIRE(cuModuleUnload(ik_module) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	REQUIRE(cuStreamEndCapture(captured, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	ik_flip(p, at, off, one);
	tk_sync();
	CK(cuStreamDestroy(captured));
}

/* The one whose kernel did it goes at once, and leaves its buffers to another one. */
static TK_UNUSED void of_another(void)
{
	CUmodule another = ik_another();
	CUdeviceptr p = ik_alloc_of(another, 20, 60, 0);

	tk_launch(tk_kernel_of(another, "d_flip"), 1, 1, NULL, TK_ARGS(&p, &at, &off, &one));
	CK(cuModuleUnload(another));
	ik_free(p, 20, 0);
	tk_sync();
}

int main(void)
{
	CASE();
}
