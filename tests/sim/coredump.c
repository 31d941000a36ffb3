/*
 * Exception dumps: their settings, and when they are written, as measured on an H200 with driver 580
 * (tests/gpu/faults/README.md). The first fault of a kernel whose context is to dump and not to abort goes this way:
 *
 *	NONE -> PENDING -> WRITING -> WHOLE -> OVER: the error has come, in all contexts
 *		   `-> LOST -----------------'   a context has been ended in between
 *
 * A kernel that is launched until the dump is whole waits for that and does not run, nor does one that comes later. Not
 * simulated: dumps that abort, of the program's own wish (CU_COREDUMP_PIPE) and of several devices; %p and %h in names.
 */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BEFORE_ERROR_MS 25
#define HANG_MS 4000
#define LINGER_MS 55

static enum { NONE, PENDING, LOST, WRITING, WHOLE, OVER } state;
static struct coredump dump;
static CUresult error; /* that comes behind it */
static struct timespec over_at;
static char path[1024];

static struct coredump_settings global = {.aborts = true};
static bool let_go;    /* the event thread, by whoever turned dumps off */
static unsigned fixed; /* a bit for each attribute that the environment has: no call changes it */

struct coredump_settings coredump_settings(void)
{
	return global;
}

/* What the flags are called in the environment, from bit 0 on. */
static const char *const flag_names[] = {
    "skip_nonrelocated_elf_images", "skip_global_memory", "skip_shared_memory", "skip_local_memory", "skip_abort",
    "skip_constbank_memory"};

void coredump_read_environment(void)
{
	const char *on = getenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION"), *file = getenv("CUDA_COREDUMP_FILE"),
		   *flags = getenv("CUDA_COREDUMP_GENERATION_FLAGS");
	char host[64] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(global.file, sizeof(global.file), "core.cuda.%s.%d", host, (int)getpid());
	if (file)
		snprintf(global.file, sizeof(global.file), "%s", file);
	global.enabled = on && atoi(on);
	for (size_t i = 0; flags && i < sizeof(flag_names) / sizeof(*flag_names); i++)
		global.flags |= strstr(flags, flag_names[i]) ? 1u << i : 0;
	fixed = (on ? 1u << CU_COREDUMP_ENABLE_ON_EXCEPTION : 0) | (file ? 1u << CU_COREDUMP_FILE : 0) |
		(flags ? 1u << CU_COREDUMP_GENERATION_FLAGS : 0);
}

#define FIELD(name) \
	{ \
		offsetof(struct coredump_settings, name), sizeof(global.name) \
	}

static const struct field {
	size_t at, size;
} fields[CU_COREDUMP_MAX] = {
    [CU_COREDUMP_ENABLE_ON_EXCEPTION] = FIELD(enabled),
    [CU_COREDUMP_TRIGGER_HOST] = FIELD(aborts),
    [CU_COREDUMP_LIGHTWEIGHT] = FIELD(lightweight),
    [CU_COREDUMP_ENABLE_USER_TRIGGER] = FIELD(user),
    [CU_COREDUMP_FILE] = FIELD(file),
    [CU_COREDUMP_PIPE] = FIELD(pipe),
    [CU_COREDUMP_GENERATION_FLAGS] = FIELD(flags),
};

/* Texts have their own length, the others that of their type. Without a value the size is asked for. */
static CUresult attribute(struct coredump_settings *of, bool set, CUcoredumpSettings which, void *value, size_t *size)
{
	const struct field *f = &fields[(unsigned)which < CU_COREDUMP_MAX ? which : 0];
	char *field = (char *)of + f->at;
	bool is_text = f->size == sizeof(global.file);

	if (!f->size || !size)
		return CUDA_ERROR_INVALID_VALUE;
	if (!value) {
		*size = f->size;
		return CUDA_SUCCESS;
	}
	if (is_text ? *size > f->size : *size != f->size)
		return CUDA_ERROR_INVALID_VALUE;
	if (!set)
		memcpy(value, field, *size);
	else if (is_text)
		snprintf(field, f->size, "%.*s", (int)*size, (char *)value);
	else
		memcpy(field, value, *size);
	return CUDA_SUCCESS;
}

static CUresult set(struct coredump_settings *of, CUcoredumpSettings which, void *value, size_t *size)
{
	struct coredump_settings unused;
	bool without_effect = (unsigned)which < CU_COREDUMP_MAX && fixed >> which & 1;

	return attribute(without_effect ? &unused : of, true, which, value, size);
}

/* Once there has been a context, global ones have no effect. */
static CUresult set_global(CUcoredumpSettings which, void *value, size_t *size)
{
	struct coredump_settings unused;

	let_go = let_go || (which == CU_COREDUMP_ENABLE_ON_EXCEPTION && value && !*(bool *)value);
	return set(sim.contexts ? &unused : &global, which, value, size);
}

ENTRY(cuCoredumpGetAttribute, NEEDS_CONTEXT, TAKES(CUcoredumpSettings attrib, void *value, size_t *size),
      attribute(&c.ctx->dump, false, attrib, value, size))
ENTRY(cuCoredumpGetAttributeGlobal, NEEDS_INIT, TAKES(CUcoredumpSettings attrib, void *value, size_t *size),
      attribute(&global, false, attrib, value, size))
ENTRY(cuCoredumpSetAttribute, NEEDS_CONTEXT, TAKES(CUcoredumpSettings attrib, void *value, size_t *size),
      set(&c.ctx->dump, attrib, value, size))
ENTRY(cuCoredumpSetAttributeGlobal, NEEDS_INIT, TAKES(CUcoredumpSettings attrib, void *value, size_t *size),
      set_global(attrib, value, size))

/* Without the lock. */
static void sleep_ms(size_t ms)
{
	struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	sim_unlock();
	while (nanosleep(&t, &t))
		;
	sim_lock();
}

static void fall_over(void);

static void go_to(int next)
{
	state = next;
	if (next == OVER)
		atexit(fall_over);
	clock_gettime(CLOCK_MONOTONIC, &over_at);
	pthread_cond_broadcast(&sim.done);
}

static void wait_until_whole(void)
{
	while (state < WHOLE && sim.state != SIM_TORN_DOWN)
		pthread_cond_wait(&sim.done, sim_the_lock());
}

bool coredump_holds_kernels(void)
{
	bool holds;

	sim_lock();
	holds = state != NONE;
	if (holds)
		wait_until_whole();
	sim_unlock();
	return holds;
}

static bool is_loaded(CUmodule module)
{
	for (CUcontext c = sim.contexts; c; c = c->next)
		for (CUmodule m = c->modules; m; m = m->next)
			if (m == module)
				return true;
	return !module;
}

/* A reader that has gone ends it: SIGPIPE is blocked in the driver's threads. */
static void write_all(int fd, const char *bytes, size_t size)
{
	ssize_t n;

	for (size = size < sim.dump.cut ? size : sim.dump.cut; size; bytes += n, size -= (size_t)n) {
		n = write(fd, bytes, size);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			break;
	}
}

/* false: the file cannot be opened. */
static bool write_dump(void)
{
	size_t size;
	char *bytes;
	int fd;

	sim_unlock();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	sim_lock();
	if (fd >= 0 && state == PENDING && sim.state != SIM_TORN_DOWN) {
		dump.has_image = is_loaded(dump.module);
		bytes = coredump_build(&dump, &size);
		go_to(WRITING);
		sim_unlock();
		write_all(fd, bytes, size);
		free(bytes);
		sim_lock();
		go_to(WHOLE);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void *dump_thread(void *unused)
{
	sim_lock();
	sleep_ms(sim.dump.delay);
	if (state == PENDING && sim.state != SIM_TORN_DOWN) {
		if (write_dump())
			sleep_ms(BEFORE_ERROR_MS);
		if (state != LOST && !sim.dump.forgotten) {
			queue_break_all(dump.device, error);
			go_to(OVER);
		}
	}
	sim_unlock();
	return NULL;
}

/* The file, or the folder where it will be. */
static bool can_be_written(void)
{
	char folder[sizeof(path)], *slash;

	if (!access(path, W_OK))
		return true;
	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[1] = 0;
	return errno == ENOENT && !access(slash ? folder : ".", W_OK);
}

static void describe(const struct work_kernel *k, const struct gt_thread *self)
{
	dump.fault = fault_last();
	dump.thread = *self;
	dump.device = k->ctx->device;
	dump.ctx = k->ctx;
	dump.module = k->function->magic == MAGIC_FUNCTION ? k->function->module : NULL;
	dump.empty = sim.dump.empty;
	dump.tid = k->tid;
	dump.line = dump.fault.line ?: k->code->line;
	snprintf(dump.kernel, sizeof(dump.kernel), "%s", k->code->name);
	snprintf(dump.file, sizeof(dump.file), "%s", k->code->file ?: "kernels.c");
	for (unsigned i = 0; i < k->code->params; i++) {
		size_t at = param_offset(k->code, i), size = k->code->size[i];

		if (at + size > sizeof(dump.parameters))
			break;
		memcpy(dump.parameters + at, k->pointers[i], size);
		dump.parameter_bytes = at + size;
	}
	dump.stays = (dump.fault.what == GT_ACCESS && !dump.fault.store) ||
		     (dump.fault.what != GT_ACCESS && dump.fault.what != GT_ADDS);
}

/*
 * While dumps are on, and for a while behind the error, the driver's event thread falls over what an end of the process
 * tears down, before any exit handler of others (measured on an H200).
 */
static void fall_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!sim_forked && state == OVER &&
	    (!let_go || (now.tv_sec - over_at.tv_sec) * 1000 + (now.tv_nsec - over_at.tv_nsec) / 1000000 < LINGER_MS)) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
}

/* A fault of a kernel, by who ran it: what its stream makes of it. */
CUresult coredump_take(const struct work_kernel *k, const struct gt_thread *self, CUresult native)
{
	const struct coredump_settings *s = &k->ctx->dump;

	sim_lock();
	if (state == NONE && s->enabled && (s->flags & CU_COREDUMP_SKIP_ABORT || !s->aborts)) {
		strcpy(path, s->file);
		if (can_be_written() && queue_start_thread(dump_thread, NULL)) {
			error = native == CUDA_ERROR_ASSERT ? CUDA_ERROR_LAUNCH_FAILED : native;
			describe(k, self);
			state = PENDING;
			if (dump.stays)
				wait_until_whole();
			/* Of a trap already the wait says it. */
			native = dump.fault.what == GT_TRAPS ? error : CUDA_SUCCESS;
		}
	} else if (state != NONE) {
		native = CUDA_SUCCESS; /* that of the first is on its way */
	}
	sim_unlock();
	return native;
}

/* A context ends. The driver does not return where the fault of a warp that has left is not dumped yet. */
void coredump_hang(void)
{
	if (state != PENDING || dump.stays)
		return;
	state = LOST;
	sleep_ms(HANG_MS);
	queue_break_all(dump.device, error);
	go_to(OVER);
}

/* exit() lets a dump that has begun end. */
void coredump_finish(void)
{
	while (state == WRITING)
		pthread_cond_wait(&sim.done, sim_the_lock());
}
