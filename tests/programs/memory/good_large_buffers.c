// under managed: differs: attributes are those of managed memory
/* Buffers of 2 MiB and more, in whole granules and not: they are filled, copied and asked about as native ones. */
#include "testkit.h"

static void tell(CUdeviceptr p, size_t size)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr start, base;
	size_t range, length;
	CUcontext context;
	unsigned managed = 0;

	CK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p + size - 1));
	CK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + size / 2));
	CK(cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p));
	CK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
	CK(cuMemGetAddressRange(&base, &length, p + size - 1));
	printf("%zu: of our context: %d, starts at 0: %d, %d, size %zu, %zu, managed %d\n", size, context == tk_context,
	       start == p, base == p, range, length, managed & 1);
	printf("retained: %s\n", tk_error_name(cuMemRetainAllocationHandle(&handle, (void *)p)));
}

static void use(size_t size)
{
	static unsigned char host[1 << 16];
	size_t right = 0, near = size < sizeof(host) ? size : sizeof(host);
	CUdeviceptr p = tk_alloc(size);

	printf("aligned: %d\n", p % 512 == 0);
	CK(cuMemsetD8(p, 0x11, size));
	/* Both ends: the simulator takes a while for all of it. */
	tk_flip(p, 0, (long long)near);
	tk_flip(p, (long long)(size - near), (long long)near);
	CK(cuMemcpyDtoH(host, p + size - near, near));
	for (size_t i = 0; i < near; i++)
		right += host[i] == (0x11 ^ 0x5a);
	printf("%zu of %zu right\n", right, near);
	CK(cuMemcpyHtoD(p, host, near));
	CK(cuMemcpyDtoD(p + size - near, p, near));
	tell(p, size);
	CK(cuMemsetD8(p + size - 1, 0x77, 1));
	CK(cuMemcpyDtoH(host, p + size - 1, 1));
	printf("last byte %x\n", host[0]);
	CK(cuMemFree(p));
}

int main(void)
{
	CUdeviceptr p;

	tk_start();
	use(2 << 20);
	use((2 << 20) + 1);
	use(3145733);
	use((4 << 20) - 512);
	use(64 << 20);
	/* In stream order, though it does not come from a pool. */
	CK(cuMemAlloc(&p, 5 << 20));
	CK(cuMemFreeAsync(p, NULL));
	tk_sync();
}
