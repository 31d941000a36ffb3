/*
 * ipc_pair [PRELOAD [past]]: the parent exports buffers, and a child, which has PRELOAD in LD_PRELOAD or nothing there,
 * imports them: it says what it finds, and writes to the last byte of each. past: to eight behind it, any one of which
 * may be what a canary is, and the parent does nothing with them but exporting.
 */
#include "make_buffer.h"

#include <stdbool.h>
#include <sys/wait.h>

static const size_t sizes[] = {1000, 4096, 3 << 20};
enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };

static void import(int number, CUipcMemHandle handle, bool past)
{
	unsigned char first = 0, last[8] = {0xaa};
	CUdeviceptr p, base;
	size_t range;

	CK(cuIpcOpenMemHandle(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	CK(cuMemGetAddressRange(&base, &range, p));
	CK(cuMemcpyDtoH(&first, p, 1));
	CK(cuMemcpyHtoD(p + sizes[number] - !past, last, past ? 8 : 1));
	printf("%zu: %zu from the base, first byte %#x, range long enough: %d\n", sizes[number], (size_t)(p - base),
	       first, range >= sizes[number]);
	CK(cuIpcCloseMemHandle(p));
}

static void be_the_child(bool past)
{
	CUipcMemHandle handle;

	tk_start();
	for (int i = 0; i < COUNT; i++) {
		REQUIRE(fread(&handle, sizeof(handle), 1, stdin) == 1);
		import(i, handle, past);
	}
	puts("imported");
}

int main(int argc, char **argv)
{
	CUdeviceptr p[COUNT];
	unsigned char last;
	FILE *child;
	char command[1024];
	bool past = argc > 2;

	if (getenv("IPC_CHILD")) {
		be_the_child(!strcmp(getenv("IPC_CHILD"), "past"));
		return 0;
	}
	for (int i = 0; i < COUNT; i++) {
		p[i] = make_buffer(sizes[i]);
		if (!past)
			CK(cuMemsetD8(p[i], (unsigned char)(i + 1), sizes[i]));
	}
	if (!past)
		tk_sync();
	snprintf(command, sizeof(command), "IPC_CHILD=%s LD_PRELOAD='%s' '%s'", past ? "past" : "within",
		 argc > 1 ? argv[1] : "", argv[0]);
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
		if (!past) {
			CK(cuMemcpyDtoH(&last, p[i] + sizes[i] - 1, 1));
			printf("last byte %#x\n", last);
		}
		CK(cuMemFree(p[i]));
	}
}
