/*
 * ipc_pair [PRELOAD]: the parent exports buffers, and a child, which has PRELOAD in LD_PRELOAD or nothing there,
 * imports them: it says what it finds, and writes to the last byte of each.
 */
#include "make_buffer.h"

#include <sys/wait.h>

static const size_t sizes[] = {1000, 4096, 3 << 20};
enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };

static void import(int number, CUipcMemHandle handle)
{
	unsigned char first = 0, last = 0xaa;
	CUdeviceptr p, base;
	size_t range;

	CK(cuIpcOpenMemHandle(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	CK(cuMemGetAddressRange(&base, &range, p));
	CK(cuMemcpyDtoH(&first, p, 1));
	CK(cuMemcpyHtoD(p + sizes[number] - 1, &last, 1));
	printf("%zu: %zu from the base, first byte %#x, range long enough: %d\n", sizes[number], (size_t)(p - base),
	       first, range >= sizes[number]);
	CK(cuIpcCloseMemHandle(p));
}

static void be_the_child(void)
{
	CUipcMemHandle handle;

	tk_start();
	for (int i = 0; i < COUNT; i++) {
		REQUIRE(fread(&handle, sizeof(handle), 1, stdin) == 1);
		import(i, handle);
	}
	puts("imported");
}

int main(int argc, char **argv)
{
	CUdeviceptr p[COUNT];
	unsigned char last;
	FILE *child;
	char command[1024];

	if (getenv("IPC_CHILD")) {
		be_the_child();
		return 0;
	}
	for (int i = 0; i < COUNT; i++) {
		p[i] = make_buffer(sizes[i]);
		CK(cuMemsetD8(p[i], (unsigned char)(i + 1), sizes[i]));
	}
	tk_sync();
	snprintf(command, sizeof(command), "IPC_CHILD=1 LD_PRELOAD='%s' '%s'", argc > 1 ? argv[1] : "", argv[0]);
	child = popen(command, "w");
	REQUIRE(child);
	for (int i = 0; i < COUNT; i++) {
		CUipcMemHandle handle;

		/* Of the inside, as of the start. */
		CK(cuIpcGetMemHandle(&handle, p[i] + 16 * (CUdeviceptr)i));
		REQUIRE(fwrite(&handle, sizeof(handle), 1, child) == 1);
	}
	REQUIRE(pclose(child) == 0);
	for (int i = 0; i < COUNT; i++) {
		CK(cuMemcpyDtoH(&last, p[i] + sizes[i] - 1, 1));
		printf("last byte %#x\n", last);
		CK(cuMemFree(p[i]));
	}
}
