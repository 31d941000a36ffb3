/*
 * service [exit|ignore]: overruns a buffer, frees it, says "ready", and waits for a signal, as a service does. SIGTERM
 * has its default, or a handler that exits with 7, or is ignored. service mapping: has only a mapping, and ends by
 * SIGTERM.
 */
#include "make_buffer.h"
#include <signal.h>
#include <unistd.h>

static void leave(int number TK_UNUSED)
{
	exit(7);
}

static void end_with_mapping(void)
{
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
	CUmemGenericAllocationHandle handle;

	tk_start();
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	CK(cuMemCreate(&handle, 2 << 20, &prop, 0));
	raise(SIGTERM);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	CUdeviceptr p;

	if (!strcmp(how, "mapping"))
		end_with_mapping();
	p = make_buffer(1000);
	if (*how)
		signal(SIGTERM, strcmp(how, "exit") ? SIG_IGN : leave);
	tk_flip(p, 1000, 1);
	tk_sync();
	CK(cuMemFree(p));
	REQUIRE(!chdir("/"));
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
