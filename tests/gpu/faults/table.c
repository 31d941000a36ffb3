/*
 * table pipe|closing|memfd|socket|own_pipe: whether the dump can be written through /proc/self/task/TID/fd/N of a
 * thread that has a descriptor table of its own. The program's own threads cannot close or inherit what lies in it.
 * own_pipe: the same pipe in the table of all threads, for comparison. closing: the keeper closes its write end at the
 * dump's first byte, so that the pipe ends when the dump does.
 */
#define _GNU_SOURCE
#include "common.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM ((size_t)16 << 20)
#define QUIET_NS 300000000ull

static struct keeper {
	const char *kind;
	char path[64];
	sem_t ready;
	int read_end, write_end;
	unsigned char *bytes;
	size_t size;
	uint64_t first, last;
	_Atomic bool stop;
} keeper;

static void make_ends(struct keeper *k)
{
	int ends[2] = {-1, -1};

	if (!strcmp(k->kind, "memfd"))
		ends[0] = ends[1] = memfd_create("dump", MFD_CLOEXEC);
	else if (!strcmp(k->kind, "socket"))
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
	else if (pipe2(ends, O_CLOEXEC))
		tell("setup_failed=pipe");
	k->read_end = ends[0];
	k->write_end = ends[1];
}

static void drain_pipe(struct keeper *k)
{
	struct pollfd p = {.fd = k->read_end, .events = POLLIN};

	while (!k->stop) {
		ssize_t n;

		if (poll(&p, 1, 5) <= 0)
			continue;
		n = read(k->read_end, k->bytes + k->size, ROOM - k->size);
		if (n <= 0) {
			tell("pipe_ended=%d,after:%zu", n == 0, k->size);
			return;
		}
		k->last = now_ns();
		if (!k->first && !strcmp(k->kind, "closing"))
			close(k->write_end);
		k->first = k->first ? k->first : k->last;
		k->size += (size_t)n;
	}
}

static void read_memfd(struct keeper *k)
{
	struct stat s;

	while (!k->stop) {
		if (!fstat(k->read_end, &s) && (size_t)s.st_size != k->size) {
			k->last = now_ns();
			k->first = k->first ? k->first : k->last;
			k->size = (size_t)s.st_size;
		}
		sleep_ns(1000000);
	}
	if (k->size <= ROOM && pread(k->read_end, k->bytes, k->size, 0) != (ssize_t)k->size)
		tell("read_failed=memfd");
}

static void *keep_descriptors(void *argument)
{
	struct keeper *k = argument;

	if (strncmp(k->kind, "own_", 4) && unshare(CLONE_FILES))
		tell("setup_failed=unshare");
	make_ends(k);
	snprintf(k->path, sizeof(k->path), "/proc/self/task/%d/fd/%d", gettid(), k->write_end);
	sem_post(&k->ready);
	if (!strcmp(k->kind, "memfd"))
		read_memfd(k);
	else
		drain_pipe(k);
	return NULL;
}

int main(int count, char **words)
{
	struct keeper *k = &keeper;
	struct fence fence;
	struct stat here;
	CUcontext context;
	CUmodule module;
	pthread_t thread;
	uint64_t end;
	char seen[64];

	if (count < 2)
		return 2;
	k->kind = words[1];
	k->bytes = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sem_init(&k->ready, 0, 0);
	pthread_create(&thread, NULL, keep_descriptors, k);
	sem_wait(&k->ready);
	snprintf(seen, sizeof(seen), "/proc/self/fd/%d", k->write_end);
	tell("path=%s,in_main_table:%d", k->path, !stat(seen, &here));
	must(cuInit(0), "cuInit");
	set_dump(k->path);
	must(cuCtxCreate(&context, NULL, 0, 0), "cuCtxCreate");
	must(cuModuleLoad(&module, "kernels.fatbin"), "cuModuleLoad");
	fence = make_fence(0);
	tell_deaths();
	must(launch(find_function(module, "store_one"), FEW, past_end(&fence), NULL), "launch");
	tell("wait=%s", error_name(cuCtxSynchronize()));
	/* A pipe whose write end lies in the own table never ends: silence is its end. */
	end = now_ns() + 2000000000;
	while (now_ns() < end && !(k->last && now_ns() - k->last > QUIET_NS))
		sleep_ns(5000000);
	k->stop = true;
	pthread_join(thread, NULL);
	tell("dump=bytes:%zu,complete:%d,us:%lu", k->size, k->size <= ROOM && dump_is_complete(k->bytes, k->size),
	     k->size ? (k->last - k->first) / 1000 : 0);
	tell("final=%s", error_name(cuCtxSynchronize()));
	return 0;
}
