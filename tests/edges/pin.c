/*
 * Who reads a canary, and when. The program takes the page behind its buffer away, as an unmapping would, and its
 * handler sees who runs into that.
 *
 *   1. While the monitor is in the middle of a load, a free of that buffer must not come to its end.
 *   2. While a buffer is being freed, and the free waits for a kernel, the monitor must not read its canaries.
 *
 * Alone nobody reads anything, and the output is the same.
 */
#include "make_buffer.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = 4096 };

static CUdeviceptr buffer;
static atomic_long freeing_thread;
static atomic_int reads, go_on, freed;

static void *page(void)
{
	return (void *)(uintptr_t)(buffer + PAGE);
}

static void on_fault(int signal, siginfo_t *info, void *context TK_UNUSED)
{
	uintptr_t at = (uintptr_t)info->si_addr;

	if (at < buffer + PAGE || at >= buffer + 2 * PAGE) {
		sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
		return;
	}
	if (syscall(SYS_gettid) != atomic_load(&freeing_thread)) {
		atomic_fetch_add(&reads, 1);
		while (!atomic_load(&go_on))
			usleep(100);
	}
	mprotect(page(), PAGE, PROT_READ | PROT_WRITE);
}

static void *free_it(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(tk_context));
	atomic_store(&freeing_thread, syscall(SYS_gettid));
	CK(cuMemFree(buffer));
	atomic_store(&freed, 1);
	return NULL;
}

/* What lies behind a buffer natively may be nobody's memory. */
static void take_page(void)
{
	if (mprotect(page(), PAGE, PROT_NONE))
		fprintf(stderr, "nothing behind the buffer\n");
}

static void while_read(void)
{
	double end = tk_ms() + 2000;
	pthread_t thread;

	buffer = make_buffer(PAGE);
	take_page();
	while (!atomic_load(&reads) && tk_ms() < end) {
		tk_flip(buffer, 0, 1);
		tk_sync();
		tk_sleep_ms(1);
	}
	fprintf(stderr, "the monitor is reading: %s\n", atomic_load(&reads) ? "yes" : "no");
	thread = tk_begin_thread(free_it, NULL);
	tk_sleep_ms(100);
	if (atomic_load(&reads))
		fprintf(stderr, "freed meanwhile: %s\n", atomic_load(&freed) ? "yes" : "no");
	atomic_store(&go_on, 1);
	tk_end_thread(thread);
}

static void while_freed(void)
{
	pthread_t thread;

	buffer = make_buffer(PAGE);
	atomic_store(&freeing_thread, 0);
	tk_spin(NULL, 300);
	thread = tk_begin_thread(free_it, NULL);
	tk_sleep_ms(50);
	atomic_store(&reads, 0);
	take_page();
	tk_sleep_ms(150);
	fprintf(stderr, "read while being freed: %s\n", atomic_load(&reads) ? "yes" : "no");
	tk_end_thread(thread);
}

int main(void)
{
	tk_start();
	tk_kernel("k_flip");
	sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, NULL);
	while_read();
	while_freed();
	puts("done");
}
