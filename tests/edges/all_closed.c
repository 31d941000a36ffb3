/*
 * A program that closes every descriptor it does not know, takes the numbers for files of its own, and goes to another
 * directory; one report has been written before, one comes after. Prints how much its files hold. With an argument it
 * waits until the first report is whole.
 */
#include "make_buffer.h"
#include "report_log.h"
#include <fcntl.h>

enum { LAST = 400 };

static void overrun(void)
{
	CUdeviceptr p = make_buffer(4096);

	tk_flip(p, 4096, 1);
	tk_sync();
	CK(cuMemFree(p));
}

/* Close what is a log, and say whether any was; what the driver has opened it may still need. */
static int close_logs(void)
{
	int any = 0;

	for (int fd = 3; fd < LAST; fd++) {
		char link[64], target[256];
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		if (n > 0 && strstr(target, ".log"))
			any = close(fd) == 0;
	}
	return any;
}

int main(int argc, char **argv TK_UNUSED)
{
	double began = tk_ms();
	int first;

	tk_start();
	overrun();
	if (argc > 1)
		REQUIRE(wait_for_report("SUMMARY", 10000));
	/* The report may still be under way. */
	while (!close_logs() && tk_ms() - began < 5000)
		tk_sleep_ms(1);
	first = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	REQUIRE(first >= 0);
	while (dup(first) < LAST && dup(first) >= 0)
		;
	REQUIRE(!chdir("/"));
	overrun();
	printf("%ld bytes of data\n", (long)lseek(first, 0, SEEK_END));
}
