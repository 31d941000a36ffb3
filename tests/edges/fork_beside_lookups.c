/*
 * Children are forked while another thread looks names up, as one that loads plugins does, and look one up, the
 * driver's or not, or end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 400 };

static void *look_up(void *unused)
{
	(void)unused;
	for (;;)
		dlsym(RTLD_DEFAULT, "qsort");
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int status, hung = 0;

	if (pthread_create(&thread, NULL, look_up, NULL))
		return 1;
	for (int i = 0; i < FORKS && hung < 3; i++) {
		pid_t child = fork();

		if (!child) {
			alarm(5);
			if (i % 3 == 0)
				exit(0);
			dlsym(RTLD_DEFAULT, i % 3 == 1 ? "bsearch" : "cuInit");
			_exit(0);
		}
		waitpid(child, &status, 0);
		hung += WIFSIGNALED(status);
	}
	printf("%d hung\n", hung);
	fflush(stdout);
	_exit(0);
}
