/* Every way to memory of somebody else's, and decompression, which writes where nobody looks. Most are not simulated.
 */
#include "every.h"

#include <signal.h>
#include <sys/wait.h>

static CUipcMemHandle handle;

/* Another process has a buffer, until it is ended. */
static pid_t export_one(void)
{
	int ends[2];
	pid_t other;

	REQUIRE(!pipe(ends));
	other = fork();
	if (other == 0) {
		CUdeviceptr p;

		setenv("GMOD_OPTIONS", "enabled=0", 1);
		tk_start();
		CK(cuMemAlloc(&p, 1000));
		CK(cuIpcGetMemHandle(&handle, p));
		REQUIRE(write(ends[1], &handle, sizeof(handle)) == sizeof(handle));
		for (;;)
			pause();
	}
	close(ends[1]);
	if (read(ends[0], &handle, sizeof(handle)) != sizeof(handle))
		tk_skip("no other process has a buffer");
	return other;
}

static void imports(void)
{
	CUmemGenericAllocationHandle memory = 0;
	CUmemPoolPtrExportData exported = {{0}};
	CUdeviceptr p = 0;

	if (SAY(cuIpcOpenMemHandle, &p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == CUDA_SUCCESS)
		CK(cuIpcCloseMemHandle(p));
	if (SAY(cuIpcOpenMemHandle_v2, &p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == CUDA_SUCCESS)
		CK(cuIpcCloseMemHandle(p));
	SAY(cuIpcOpenMemHandle, &p, handle, 0); /* refused */
	SAY(cuMemImportFromShareableHandle, &memory, NULL, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	SAY(cuMemPoolImportPointer, &p, NULL, &exported);
}

static void mappings(void)
{
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.size = 1000};
	CUmemDecompressParams batch = {0};
	CUdeviceptr p = 0;
	size_t size = 0;

	SAY(cuExternalMemoryGetMappedBuffer, &p, NULL, &buffer);
	SAY(cuGraphicsResourceGetMappedPointer_v2, &p, &size, NULL);
	SAY(cuMulticastBindMem, 0, 0, 0, 0, 1000, 0);
	SAY(cuMulticastBindMem_v2, 0, tk_device, 0, 0, 0, 1000, 0);
	SAY(cuMulticastBindAddr, 0, 0, p, 1000, 0);
	SAY(cuMulticastBindAddr_v2, 0, tk_device, 0, p, 1000, 0);
	BOTH(cuMemBatchDecompressAsync, _ptsz, &batch, 1, 0, NULL, NULL);
}

static void calls(void)
{
	CK(cuMemFree(tk_alloc(1000)));
	imports();
	mappings();
}

int main(void)
{
	pid_t other = export_one();

	every_way(calls);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return 0;
}
