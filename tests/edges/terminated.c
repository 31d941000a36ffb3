/* Overruns a buffer, waits until that has been seen and can be settled, and ends by the signal that was asked for. */
#include "make_buffer.h"
#include <signal.h>

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {{"TERM", SIGTERM}, {"INT", SIGINT}, {"HUP", SIGHUP}};
	CUdeviceptr p = make_buffer(4096);

	tk_flip(p, 4096, 1);
	tk_sync();
	CK(cuMemFree(p));
	tk_sleep_ms(50); /* the monitor may be the one that says it */
	for (int i = 0; i < 3; i++)
		if (argc > 1 && !strcmp(argv[1], signals[i].name))
			raise(signals[i].number);
}
