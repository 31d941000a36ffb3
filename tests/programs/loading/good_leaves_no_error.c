/* What GMOD looks for and the driver lacks is no error of the program's, which needs cuInit() only. */
#include "testkit.h"
#include <dlfcn.h>

int main(void)
{
	const char *error;

	dlerror();
	if (cuInit(0) == CUDA_ERROR_NO_DEVICE)
		tk_skip("no CUDA device");
	error = dlerror();
	printf("dlerror: %s\n", error ? error : "nothing");
}
