/* What kernels may touch, and forked children: each fact in a process of its own. */
#include "conformance.h"

#include <sys/wait.h>

/* What comes of a kernel of the current context that stores there. */
static CUresult store_to(CUdeviceptr at)
{
	int value = 1;

	tk_launch(tk_kernel_of(tk_load_kernels(), "k_illegal"), 1, 1, NULL, TK_ARGS(&at, &value));
	return cuCtxSynchronize();
}

/* Such memory is only some devices'. */
void child_access_own(void)
{
	void *own = malloc(1 << 20);
	int pageable;

	CK(cuDeviceGetAttribute(&pageable, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, tk_device));
	fact(yes_no((store_to((CUdeviceptr)own + 5000) == CUDA_SUCCESS) == pageable),
	     "a kernel can store to memory of the program's own where the device says so");
}

void child_access_registered(void)
{
	struct memory m = memory_new(REGISTERED);

	fact(code(store_to(m.at)), "a kernel stores to registered memory");
}

void child_access_freed(void)
{
	CUdeviceptr freed;

	tk_alloc(1000);
	freed = tk_alloc(1000);
	CK(cuMemFree(freed));
	fact(code(store_to(freed)), "a kernel stores to a small buffer that was freed, beside one that was not");
}

void child_access_freed_large(void)
{
	CUdeviceptr freed = tk_alloc(16 << 20);

	CK(cuMemFree(freed));
	fact(code(store_to(freed + (8 << 20))), "a kernel stores to a large buffer that was freed");
}

void child_access_before(void)
{
	fact(code(store_to(tk_alloc(16 << 20) - 1)), "a kernel stores before a large buffer, the first one");
}

/* Device 1, with its primary context current: false where there is none. */
static int open_other(CUcontext *out)
{
	int can = 0;

	if (tk_init() < 2)
		return 0;
	CK(cuDeviceCanAccessPeer(&can, 1, 0));
	if (can) {
		CK(cuDevicePrimaryCtxRetain(out, 1));
		CK(cuCtxSetCurrent(*out));
	}
	return can;
}

/* Each way by itself: what device 0 may says nothing of device 1. */
void child_access_peer(void)
{
	CUdeviceptr here = tk_alloc(1000), there;
	CUcontext other;

	if (!open_other(&other))
		return;
	CK(cuMemAlloc(&there, 1000));
	CK(cuCtxSetCurrent(tk_context));
	CK(cuCtxEnablePeerAccess(other, 0));
	fact(code(store_to(there)), "with peer access, a kernel stores to memory of the other device");
	CK(cuCtxSetCurrent(other));
	fact(code(store_to(here)), "without peer access, a kernel stores to memory of the other device");
}

void child_access_mapping(void)
{
	struct mapped m = mapped_open(0);
	CUmemAccessDesc desc[2] = {
	    {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}, .flags = CU_MEM_ACCESS_FLAGS_PROT_NONE},
	    {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
	};
	CUcontext other;

	if (!open_other(&other))
		return;
	CK(cuMemSetAccess(m.at, m.piece, desc + 1, 1));
	fact(code(store_to(m.at)), "a kernel stores to a mapping that its device was let in to");
	CK(cuCtxSetCurrent(tk_context));
	fact(code(store_to(m.at)), "a kernel stores to it where the other device was let in since");
	CK(cuMemSetAccess(m.at, m.piece, desc, 2));
	fact(code(store_to(m.at)), "a kernel stores to it where only the other device is let in");
}

/* The child ends by the store, or says that it went well. */
void child_access_forked(void)
{
	CUdeviceptr p = tk_alloc(1000);
	unsigned char byte = 0;
	int status;
	pid_t pid;

	CK(cuMemsetD8(p, 5, 1000));
	tk_sync();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		*(volatile unsigned char *)p = 6;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	CK(cuMemcpyDtoH(&byte, p, 1));
	fact(yes_no(WIFSIGNALED(status)), "in a forked child, a store to device memory ends it");
	fact(number(byte), "after that the byte is");
}
