/* No file of the process may grow any more: nothing can be written to a log, and nobody may die of it. */
#include "make_buffer.h"
#include <sys/resource.h>

int main(void)
{
	struct rlimit none = {0, 0};
	CUdeviceptr p = make_buffer(4096);

	REQUIRE(!setrlimit(RLIMIT_FSIZE, &none));
	tk_flip(p, 4096, 1);
	tk_sync();
	CK(cuMemFree(p));
	return 5;
}
