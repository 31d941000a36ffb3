/* A timer signal a thousand times a second, while the program allocates, launches and waits. */
#include "process.h"
#include <sys/time.h>

static volatile sig_atomic_t ticks;

static void tick(int signal TK_UNUSED)
{
	ticks = ticks + 1;
}

int main(void)
{
	struct itimerval every_ms = {{0, 1000}, {0, 1000}};
	struct sigaction action = {.sa_handler = tick};

	sigaction(SIGALRM, &action, NULL);
	tk_start();
	setitimer(ITIMER_REAL, &every_ms, NULL);
	for (int i = 0; i < 200 || ticks < 20; i++)
		use_cuda(3000);
	puts("done");
}
