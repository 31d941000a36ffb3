/* A finding, and then the end, while another thread waits for input that does not come: it has its stream's lock. */
#include "testkit.h"

static void *read_on(void *stream)
{
	fgetc(stream);
	return NULL;
}

int main(void)
{
	CUdeviceptr p = tk_alloc(1000);
	int ends[2];
	FILE *f;

	tk_flip(p, 1000, 4);
	tk_sync();
	CK(cuMemFree(p));
	REQUIRE(!pipe(ends) && (f = fdopen(ends[0], "r")));
	tk_begin_thread(read_on, f);
	tk_sleep_ms(200);
	printf("done");
	return 0;
}
