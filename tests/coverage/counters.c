/*
 * Linked into all that `make coverage` builds: the counters of gcov lie in a file that every process of the binary
 * shares.
 *
 * So nothing has to be written when a process ends: what _exit(), an exec, a signal or a fork's child leaves behind has
 * been counted, SIGKILL included. Where the file cannot be had, in a sandbox, the process counts for itself alone.
 *
 * With COVERAGE_DUMP in the environment the process only writes what the file says, as gcov wants it, and ends.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern __attribute__((visibility("hidden"))) long counters_start[], counters_end[]; /* counters.ld */
void __gcov_dump(void);

/* At the end of a process: it is all in the file. */
void __wrap___gcov_exit(void);
__attribute__((visibility("hidden"))) void __wrap___gcov_exit(void)
{
}

/* What was counted before this ran, by a dlsym(), is added. */
static void share(int fd)
{
	size_t size = (size_t)((char *)counters_end - (char *)counters_start);
	long *shared =
	    ftruncate(fd, (off_t)size) ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (shared == MAP_FAILED)
		return;
	for (long *c = counters_start; c < counters_end; c++)
		if (*c)
			__atomic_fetch_add(&shared[c - counters_start], *c, __ATOMIC_RELAXED);
	mmap(counters_start, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	munmap(shared, size);
}

/* 101: the library's own constructors come after it. */
__attribute__((constructor(101))) static void begin(void)
{
	const char *name;
	char path[4096];
	Dl_info of;
	int fd;

	if (!dladdr(counters_start, &of))
		return;
	name = strrchr(of.dli_fname, '/');
	snprintf(path, sizeof(path), "%s/%s", COUNTERS, name ? name + 1 : of.dli_fname);
	/* Processes of other users count, too. */
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd >= 0) {
		fchmod(fd, 0666);
		share(fd);
		close(fd);
	}
	if (getenv("COVERAGE_DUMP")) {
		__gcov_dump();
		syscall(SYS_exit_group, 0);
	}
}
