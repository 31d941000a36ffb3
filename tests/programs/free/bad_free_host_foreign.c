// expect: invalid-free in give_back
/* malloc'd memory handed to cuMemFreeHost. */
#include "make_buffer.h"

EXPORTED CUresult give_back(void *p)
{
	CUresult r = cuMemFreeHost(p);

	REQUIRE(r != CUDA_SUCCESS);
	return r;
}

int main(void)
{
	char *p = malloc(100);

	tk_start();
	strcpy(p, "still here");
	REQUIRE(give_back(p) == CUDA_ERROR_INVALID_VALUE);
	REQUIRE(!strcmp(p, "still here"));
	free(p);
	return 0;
}
