/*
 * The log takes nothing for 3 s, as a file on a network does now and then, while a report is written. Meanwhile buffers
 * are freed, an intact one and the damaged one: neither is held up, and no CPU is burnt.
 */
#include "make_buffer.h"
#include "report_log.h"
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static atomic_int stalls;

/* Everybody's: what is long is a report. */
EXPORTED ssize_t write(int fd, const void *bytes, size_t size)
{
	if (size > 300 && !atomic_exchange(&stalls, 1))
		tk_sleep_ms(3000);
	return syscall(SYS_write, fd, bytes, size);
}

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return 1e3 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(void)
{
	double end, began, cpu;
	char *damaged, *intact;

	tk_start();
	damaged = make_pinned(4096);
	intact = make_pinned(8192);
	damaged[4096] ^= 1;
	tk_sync();
	end = tk_ms() + 15000;
	while (!atomic_load(&stalls) && tk_ms() < end)
		tk_sleep_ms(1);
	REQUIRE(atomic_load(&stalls));
	began = tk_ms();
	cpu = cpu_ms();
	CK(cuMemFreeHost(intact));
	CK(cuMemFreeHost(damaged));
	printf("%s, %s\n", tk_ms() - began < 1000 ? "at once" : "held up", cpu_ms() - cpu < 500 ? "idle" : "busy");
	REQUIRE(wait_for_report("SUMMARY", 8000));
	return 0;
}
