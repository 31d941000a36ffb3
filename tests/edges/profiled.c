/*
 * Looks functions up, while a profiler's signal comes whose handler asks what is loaded, as unwinders do (gperftools
 * with libunwind). Whoever walks the list of libraries has a lock of the loader's, and natively dlsym takes another
 * one.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { LOOKS = 2000000 };

static volatile sig_atomic_t walks;
static atomic_bool done;
static pthread_t looking;

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info;
	(void)size;
	(void)unused;
	return 0;
}

static void on_profile(int number)
{
	(void)number;
	dl_iterate_phdr(visit, NULL);
	walks++;
}

/* More often than a timer of the CPU time comes. */
static void *profile(void *unused)
{
	while (!done) {
		pthread_kill(looking, SIGPROF);
		usleep(10);
	}
	return unused;
}

int main(void)
{
	const struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_RESTART};
	pthread_t profiler;

	sigaction(SIGPROF, &action, NULL);
	looking = pthread_self();
	if (pthread_create(&profiler, NULL, profile, NULL))
		return 1;
	for (int i = 0; i < LOOKS; i++)
		if (!dlsym(RTLD_DEFAULT, "puts"))
			return 1;
	done = true;
	pthread_join(profiler, NULL);
	puts(walks ? "walked" : "never walked");
	return 0;
}
