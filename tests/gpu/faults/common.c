#define _GNU_SOURCE
#include "common.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	nanosleep(&t, NULL);
}

const char *error_name(CUresult r)
{
	const char *name = NULL;

	cuGetErrorName(r, &name);
	return name ? name : "?";
}

void tell(const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\n';
	if (write(STDOUT_FILENO, line, (size_t)n + 1) < 0)
		return;
}

void must(CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return;
	tell("setup_failed=%s:%s", what, error_name(r));
	_exit(3);
}

static void tell_death(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	void *pc = (void *)c->uc_mcontext.gregs[REG_RIP];
	Dl_info where = {0};
	const char *name;

	(void)info;
	dladdr(pc, &where);
	name = where.dli_fname ? strrchr(where.dli_fname, '/') : NULL;
	tell("death=%d,%s,%s+%#lx", signal, gettid() == getpid() ? "caller" : "other", name ? name + 1 : "?",
	     where.dli_fbase ? (unsigned long)((char *)pc - (char *)where.dli_fbase) : 0ul);
}

void tell_deaths(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE};
	struct sigaction a = {.sa_sigaction = tell_death, .sa_flags = SA_SIGINFO | SA_RESETHAND};

	/* SA_RESETHAND: the instruction runs once more when the handler returns, and then the program dies natively. */
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &a, NULL);
}

static void set_attribute(CUcoredumpSettings what, const void *value, size_t size)
{
	must(cuCoredumpSetAttributeGlobal(what, (void *)value, &size), "cuCoredumpSetAttributeGlobal");
}

void set_dump(const char *path)
{
	unsigned flags = CU_COREDUMP_LIGHTWEIGHT_FLAGS | CU_COREDUMP_SKIP_ABORT;
	bool on = true;

	set_attribute(CU_COREDUMP_FILE, path, strlen(path) + 1);
	set_attribute(CU_COREDUMP_GENERATION_FLAGS, &flags, sizeof(flags));
	set_attribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, sizeof(on));
}

struct fence make_fence(CUdevice device)
{
	CUmemAllocationProp kind = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
	CUmemAccessDesc access = {.location = kind.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	struct fence f;

	must(cuMemCreate(&f.memory, MAPPED, &kind, 0), "cuMemCreate");
	must(cuMemAddressReserve(&f.start, RESERVED, 0, 0, 0), "cuMemAddressReserve");
	must(cuMemMap(f.start, MAPPED, 0, f.memory, 0), "cuMemMap");
	must(cuMemSetAccess(f.start, MAPPED, &access, 1), "cuMemSetAccess");
	must(cuMemsetD8(f.start, 0, MAPPED), "cuMemsetD8");
	return f;
}

CUdeviceptr past_end(const struct fence *f)
{
	return f->start + MAPPED;
}

CUfunction find_function(CUmodule m, const char *name)
{
	CUfunction f;

	must(cuModuleGetFunction(&f, m, name), name);
	return f;
}

CUresult launch(CUfunction f, unsigned blocks, CUdeviceptr address, CUstream s)
{
	void *parameters[] = {&address};

	return cuLaunchKernel(f, blocks, 1, 1, blocks > FEW ? 256 : 32, 1, 1, 0, s, parameters, NULL);
}

bool dump_is_complete(const unsigned char *bytes, size_t n)
{
	Elf64_Ehdr head;
	Elf64_Shdr section;

	if (n < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || !head.e_shoff || head.e_shentsize != sizeof(section) ||
	    head.e_shoff > n || n - head.e_shoff < (size_t)head.e_shnum * sizeof(section))
		return false;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		memcpy(&section, bytes + head.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_NOBITS && (section.sh_offset > n || n - section.sh_offset < section.sh_size))
			return false;
	}
	return true;
}

/* Reads one dump up to the writer's end; false if none began before the reader was told to stop. */
static bool read_dump(struct reader *r, int fifo, int opens, pid_t parent, unsigned char *buffer, size_t room,
		      size_t *size)
{
	struct pollfd p[] = {{.fd = fifo, .events = POLLIN}, {.fd = opens, .events = POLLIN}};
	char events[4096];
	int i = r->begun;
	uint64_t orphaned = 0;

	for (*size = 0;;) {
		if (poll(p, 2, 20) < 0 && errno != EINTR)
			return false;
		if (p[1].revents & POLLIN && read(opens, events, sizeof(events)) > 0 && !r->opened)
			r->opened = now_ns();
		if (p[0].revents & POLLIN) {
			ssize_t n = read(fifo, buffer + *size, room - *size);

			if (n > 0 && i < DUMPS) {
				if (!*size) {
					r->first[i] = now_ns();
					r->begun = i + 1;
				}
				*size += (size_t)n;
				r->last[i] = now_ns();
				r->bytes[i] = *size;
			}
			continue;
		}
		if (p[0].revents & POLLHUP && *size) {
			r->ended = i + 1;
			return true;
		}
		if (r->done && !*size)
			return false;
		if (getppid() != parent && !orphaned)
			orphaned = now_ns();
		if (orphaned && now_ns() - orphaned > 100000000)
			return *size > 0;
	}
}

static void keep_dump(const char *path, const unsigned char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		tell("keep_failed=%s", path);
	if (fd >= 0)
		close(fd);
}

static void read_dumps(struct reader *r, const char *fifo, const char *keep, pid_t parent, int ready)
{
	size_t room = (size_t)512 << 20, size;
	unsigned char *buffer = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open(fifo, O_RDONLY | O_NONBLOCK), opens = inotify_init1(IN_NONBLOCK);

	inotify_add_watch(opens, fifo, IN_OPEN);
	if (write(ready, "", 1) < 0)
		return;
	for (int i = 0; i < DUMPS && read_dump(r, fd, opens, parent, buffer, room, &size); i++) {
		int next = open(fifo, O_RDONLY | O_NONBLOCK);

		/* A descriptor that saw its writer leave reports POLLHUP until the next writer comes. */
		close(fd);
		fd = next;
		tell("dump%d=first:%lu,last:%lu,bytes:%zu,complete:%d", i, r->first[i], r->last[i], size,
		     dump_is_complete(buffer, size));
		if (keep && i == 0)
			keep_dump(keep, buffer, size);
		if (getppid() != parent)
			break;
	}
	tell("dumps=%d", r->begun);
	unlink(fifo);
}

struct reader *start_reader(const char *fifo, const char *keep)
{
	struct reader *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid(), child;
	int ready[2];
	char c;

	unlink(fifo);
	if (r == MAP_FAILED || mkfifo(fifo, 0600) || pipe(ready) || (child = fork()) < 0) {
		tell("setup_failed=reader");
		_exit(3);
	}
	if (!child) {
		/* A session of its own: the limit of time that ends the program does not end the reader. */
		setsid();
		alarm(60);
		read_dumps(r, fifo, keep, parent, ready[1]);
		_exit(0);
	}
	if (read(ready[0], &c, 1) != 1)
		_exit(3);
	close(ready[0]);
	close(ready[1]);
	return r;
}

void stop_reader(struct reader *r)
{
	r->done = true;
}

bool wait_for(_Atomic int *counter, int least, uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (*counter < least) {
		if (now_ns() > end)
			return false;
		sleep_ns(50000);
	}
	return true;
}
