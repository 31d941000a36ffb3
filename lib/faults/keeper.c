#include "lib/faults/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/deadline.h"
#include "lib/base/descriptors.h"
#include "lib/base/facts.h"
#include "lib/base/futex.h"
#include "lib/base/log.h"
#include "lib/base/log_file.h"
#include "lib/base/worker.h"
#include "lib/driver/driver.h"

#define DUMP_MAX ((size_t)256 << 20) /* full multiprocessors make one of 122 MB */
enum { OLDEST_DRIVER = 12050, PATH_LENGTH = 64, FILE_LENGTH = 1024 };

static struct {
	int read_end, write_end; /* of the keeper's own table */
	char path[PATH_LENGTH];  /* of the pipe, for the driver */
	bool is_fifo;
	char *dump;
	size_t room, size;
	bool (*told)(const void *dump, size_t size);
} keeper;
static const char late[] = "its thread did not start within a second";
static _Atomic(const char *) problem = late; /* NULL once the keeper has its pipe */

static void set_state(enum gmod_keeper state)
{
	/* release: who sees it sees the dump */
	atomic_store_explicit(&gmod_hot.keeper, state, memory_order_release);
	gmod_futex_wake(&gmod_hot.keeper);
}

static int state(void)
{
	return atomic_load_explicit(&gmod_hot.keeper, memory_order_acquire);
}

/* ---- the thread that reads ---- */

void gmod_keeper_clean_up(void)
{
	if (keeper.is_fifo)
		unlink(keeper.path);
}

/*
 * Before Linux 5.9, and where a container's seccomp profile is in the way. The file has no descriptor until the driver
 * opens it, which is what the keeper's open waits for: there is none that the program could close.
 */
static const char *make_fifo(void)
{
	snprintf(keeper.path, sizeof(keeper.path), "/dev/shm/gmod-%d-%llx", (int)getpid(),
		 (unsigned long long)gmod_now().ns);
	if (mkfifo(keeper.path, 0600))
		return "the kernel gives a thread no descriptors of its own (a seccomp profile forbids it?), and "
		       "/dev/shm takes no FIFO";
	keeper.is_fifo = true;
	return NULL;
}

/* In a table that is empty: a pipe of the program's would not end while one of its ends is open here. */
static const char *make_pipe(void)
{
	int ends[2];

	if (!gmod_own_descriptors())
		return make_fifo();
	if (pipe2(ends, O_CLOEXEC))
		return "there is no pipe to be had";
	/* The driver opens the pipe as who the process is by then. One that was root may be somebody else, who does not
	 * own it. The mode lets no other process in, because /proc/PID/fd asks who may trace this one. */
	fchmod(ends[1], 0666);
	keeper.read_end = ends[0];
	keeper.write_end = ends[1];
	snprintf(keeper.path, sizeof(keeper.path), "/proc/self/task/%d/fd/%d", (int)syscall(SYS_gettid), ends[1]);
	return access(keeper.path, W_OK) ? "the pipe cannot be opened by its path in /proc" : NULL;
}

/* The driver writes a dump in one go, up to 150 ms long (measured). */
static bool is_there_more(int ms)
{
	struct pollfd p = {.fd = keeper.read_end, .events = POLLIN};
	int n;

	while ((n = poll(&p, 1, ms)) < 0)
		;
	return n > 0;
}

/* false: it is not to be had. */
static bool await_first_byte(void)
{
	if (!keeper.is_fifo)
		return is_there_more(-1);
	keeper.read_end = open(keeper.path, O_RDONLY | O_CLOEXEC);
	gmod_keeper_clean_up();
	return keeper.read_end >= 0;
}

/*
 * A child that was forked meanwhile has the driver's end, too: silence is the end, and whatever comes behind it is
 * dropped, as is what there is no room for.
 */
static void read_to_the_end(void)
{
	static char dropped[4096];
	ssize_t n;

	while (is_there_more(1000) &&
	       (n = read(keeper.read_end, keeper.dump + keeper.size, keeper.room - keeper.size)) > 0)
		keeper.size += (size_t)n;
	set_state(GMOD_KEEPER_WHOLE);
	while (read(keeper.read_end, dropped, sizeof(dropped)) > 0)
		;
}

static void read_dump(void)
{
	/* release: who sees it sees the pipe */
	atomic_store_explicit(&problem, make_pipe(), memory_order_release);
	if (atomic_load_explicit(&problem, memory_order_relaxed) || !await_first_byte())
		return;
	set_state(GMOD_KEEPER_BEGUN);
	keeper.dump = mmap(NULL, DUMP_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	keeper.room = keeper.dump == MAP_FAILED ? 0 : DUMP_MAX;
	if (!keeper.is_fifo)
		close(keeper.write_end);
	read_to_the_end();
}

/* ---- the thread that tells ---- */

/* For a debugger. What reaches the driver is the pipe's path, never the user's. */
static void write_copy(void)
{
	const char *pattern = gmod_options()->fault_dump;
	char path[PATH_MAX];
	const char *why;
	size_t done = 0;
	ssize_t n = 0;
	int fd;

	if (!*pattern)
		return;
	why = gmod_log_file_name(pattern, path, true);
	fd = why ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
	while (fd >= 0 && done < keeper.size && (n = write(fd, keeper.dump + done, keeper.size - done)) > 0)
		done += (size_t)n;
	if (!why && (fd < 0 || done < keeper.size))
		why = strerror(errno);
	if (why)
		gmod_log_note(0, "cannot write fault_dump %s: %s", pattern, why);
	else
		gmod_log_note(0, "the fault's dump is in %s, for cuda-gdb: target cudacore %s", path, path);
	if (fd >= 0)
		close(fd);
}

static void tell(void)
{
	while (state() < GMOD_KEEPER_WHOLE)
		gmod_futex_wait(&gmod_hot.keeper, state(), UINT64_MAX);
	/* First: the finding may end the process. */
	write_copy();
	set_state(keeper.told(keeper.dump, keeper.size) ? GMOD_KEEPER_TOLD : GMOD_KEEPER_UNTOLD);
}

/* ---- the driver ---- */

static struct settings {
	bool on;
	unsigned flags;
	char file[FILE_LENGTH];
} before;

static CUresult get(CUcoredumpSettings which, void *value, size_t size)
{
	return NEXT(cuCoredumpGetAttributeGlobal)(which, value, &size);
}

static bool get_all(struct settings *s)
{
	return !get(CU_COREDUMP_ENABLE_ON_EXCEPTION, &s->on, sizeof(s->on)) &&
	       !get(CU_COREDUMP_GENERATION_FLAGS, &s->flags, sizeof(s->flags)) &&
	       !get(CU_COREDUMP_FILE, s->file, sizeof(s->file));
}

static CUresult set(const struct settings *s)
{
	size_t file = strlen(s->file) + 1, flags = sizeof(s->flags), on = sizeof(s->on);
	struct settings wanted = *s;
	CUresult r = NEXT(cuCoredumpSetAttributeGlobal)(CU_COREDUMP_FILE, wanted.file, &file);

	r = r ? r : NEXT(cuCoredumpSetAttributeGlobal)(CU_COREDUMP_GENERATION_FLAGS, &wanted.flags, &flags);
	return r ? r : NEXT(cuCoredumpSetAttributeGlobal)(CU_COREDUMP_ENABLE_ON_EXCEPTION, &wanted.on, &on);
}

/* A dump ends the other clients of an MPS server. */
static bool is_under_mps(void)
{
	int count = 0, is = 0;

	(void)NEXT(cuDeviceGetCount)(&count);
	for (int i = 0; i < count && !is; i++)
		(void)NEXT(cuDeviceGetAttribute)(&is, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, i);
	return is;
}

static const char *why_not(void)
{
	bool by_user = false;
	int version = 0;

	if (!HAVE(cuCoredumpSetAttributeGlobal) || !HAVE(cuCoredumpGetAttributeGlobal) ||
	    NEXT(cuDriverGetVersion)(&version) != CUDA_SUCCESS || version < OLDEST_DRIVER)
		return "the driver is older than CUDA 12.5";
	if (gmod_is_under_a_tool())
		return "a profiler or debugger is in the process";
	if (is_under_mps())
		return "the process is a client of MPS, whose other clients a dump would end";
	if (!get_all(&before) || get(CU_COREDUMP_ENABLE_USER_TRIGGER, &by_user, sizeof(by_user)))
		return "the driver does not tell how it is to dump";
	return before.on || by_user ? "the program or its environment (CUDA_ENABLE_COREDUMP_ON_EXCEPTION and its kin) "
				      "has dumps made already"
				    : NULL;
}

/* What the environment sets, a call changes without effect. */
static bool are_taken(const struct settings *wanted)
{
	struct settings now = {0};

	return set(wanted) == CUDA_SUCCESS && get_all(&now) && now.on && now.flags == wanted->flags &&
	       !strcmp(now.file, wanted->file);
}

static const char *start(void)
{
	static const struct gmod_worker reader = {"gmod-dump", read_dump}, teller = {"gmod-fault", tell};
	/* Nothing of memory or constants, which may be large and private; and no abort, which ends the process. */
	struct settings ours = {.on = true, .flags = CU_COREDUMP_LIGHTWEIGHT_FLAGS | CU_COREDUMP_SKIP_ABORT};
	uint64_t deadline = GMOD_SECONDS(1);
	const char *why = why_not();

	if (why)
		return why;
	if (gmod_worker_start(&reader) || gmod_worker_start(&teller))
		return "there is no thread to be had";
	while ((why = atomic_load_explicit(&problem, memory_order_acquire)) == late &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 10))
		;
	if (why)
		return why;
	memcpy(ours.file, keeper.path, sizeof(keeper.path));
	if (are_taken(&ours))
		return NULL;
	set(&before);
	return "the driver does not take the settings of a dump: are there CUDA_COREDUMP_... in the environment?";
}

void gmod_keeper_start(bool (*told)(const void *dump, size_t size))
{
	const char *why;

	if (gmod_options()->faults != GMOD_OPTION_FAULTS_EXACT)
		return;
	keeper.told = told;
	why = start();
	if (why)
		gmod_log_note(0, "faults=exact is not possible: %s", why);
	else
		set_state(GMOD_KEEPER_READY);
}

void gmod_keeper_withdraw(void)
{
	static atomic_bool done;

	if (state() != GMOD_KEEPER_READY || !gmod_first_time(&done))
		return;
	if (set(&before) != CUDA_SUCCESS)
		gmod_degraded("cuCoredumpSetAttributeGlobal");
	gmod_log_note(0, "faults=exact ends here: the program asks about exception dumps by itself");
}

/*
 * Behind a fault the driver's event thread looks after dumps ten times a second for as long as they are on, and what it
 * looks at is gone in a process that exits: that dies by SIGSEGV or SIGFPE, also without GMOD where the environment
 * asks for dumps (an H200, driver 580: 19 of 21 runs, 20 at a time; with dumps off, and a while later, none of 81).
 */
void gmod_keeper_let_go(void)
{
	static _Atomic uint64_t off_ns; /* of gmod_monotonic_ns() */
	uint64_t now = gmod_monotonic_ns(), first = 0, rest;
	size_t size = sizeof(bool);

	if (state() < GMOD_KEEPER_TOLD)
		return;
	if (atomic_compare_exchange_strong_explicit(&off_ns, &first, now, memory_order_relaxed, memory_order_relaxed)) {
		first = now;
		(void)NEXT(cuCoredumpSetAttributeGlobal)(CU_COREDUMP_ENABLE_ON_EXCEPTION, &(bool){false}, &size);
	}
	rest = first + GMOD_MILLISECONDS(150) - now;
	while (rest <= GMOD_MILLISECONDS(150) && rest && gmod_nap(&rest, GMOD_MILLISECONDS(10)))
		;
}

/* Bytes stay in the pipe until the state is BEGUN. */
bool gmod_keeper_has_dump(void)
{
	int fd = state() == GMOD_KEEPER_READY ? open(keeper.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1, bytes = 0;

	if (fd >= 0 && ioctl(fd, FIONREAD, &bytes))
		bytes = 0;
	if (fd >= 0)
		close(fd);
	return bytes || gmod_has_faulted();
}

bool gmod_keeper_await(uint64_t ns)
{
	uint64_t rest = GMOD_SECONDS(10);

	if (state() == GMOD_KEEPER_OFF)
		return false;
	while (state() == GMOD_KEEPER_READY && gmod_nap(&ns, GMOD_MILLISECONDS(1)))
		;
	while (gmod_has_faulted() && state() < GMOD_KEEPER_TOLD && gmod_nap(&rest, GMOD_MILLISECONDS(1)))
		;
	return state() == GMOD_KEEPER_TOLD;
}
