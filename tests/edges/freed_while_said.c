/*
 * A buffer is freed while the monitor is saying what became of it, which takes long, and the process is killed right
 * after the free.
 */
#include "make_buffer.h"
#include "report_log.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static atomic_int slow, saying;

/* Everybody's: a report begins with a large mapping. */
EXPORTED void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (syscall(SYS_gettid) != getpid() && size > 1 << 18 && atomic_exchange(&slow, 0)) {
		atomic_store(&saying, 1);
		tk_sleep_ms(300);
	}
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

int main(void)
{
	double end = tk_ms() + 5000;
	char *p = make_pinned(4096);

	p[4096] ^= 1;
	tk_sync();
	REQUIRE(wait_for_report("SUMMARY", 5000));
	CK(cuMemFreeHost(p));
	p = make_pinned(8192);
	atomic_store(&slow, 1);
	p[8192] ^= 1;
	tk_sync();
	while (!atomic_load(&saying) && tk_ms() < end)
		;
	CK(cuMemFreeHost(p));
	kill(getpid(), SIGKILL);
}
