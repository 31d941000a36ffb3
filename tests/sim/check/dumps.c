/*
 * dumps ACT KERNEL FILE CODE: a kernel faults whose context is to write an exception dump to the file, and the program
 * acts beside it. Ends with 0 where all is as measured on a GPU; selftest.sh looks at the dump.
 */
#include "testkit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/faults/sass.h"

static const char *file, *volatile in_pipe;
static CUfunction empty;
static CUcontext first, second;

static void set_global(CUcoredumpSettings which, const void *value, size_t size)
{
	CK(cuCoredumpSetAttributeGlobal(which, (void *)value, &size));
}

static void enable(void)
{
	const char *path = in_pipe ? in_pipe : file;
	unsigned flags = CU_COREDUMP_LIGHTWEIGHT_FLAGS | CU_COREDUMP_SKIP_ABORT;
	bool on = true, is_on = false;
	size_t size = sizeof(is_on);

	set_global(CU_COREDUMP_FILE, path, strlen(path) + 1);
	set_global(CU_COREDUMP_GENERATION_FLAGS, &flags, sizeof(flags));
	set_global(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, sizeof(on));
	CK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &is_on, &size));
	REQUIRE(is_on || getenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION"));
}

/* An ELF file's section table is its last part. */
static bool is_whole(void)
{
	unsigned char head[64];
	uint64_t sections;
	uint16_t count;
	struct stat s;
	int fd = open(file, O_RDONLY);
	bool has_head = fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) && !fstat(fd, &s);

	close(fd);
	memcpy(&sections, head + 40, sizeof(sections));
	memcpy(&count, head + 60, sizeof(count));
	return has_head && (uint64_t)s.st_size == sections + 64u * count;
}

static void fault(const char *kernel)
{
	CUdeviceptr wild = strcmp(kernel, "fault_misaligned") ? 0x7000000000 : tk_alloc(64);
	long long who = 3 * 32 + 7; /* of block 3 of 8 */

	tk_launch(tk_kernel(kernel), 8, 32, NULL, TK_ARGS(&wild, &who));
}

static void launch_empty(void)
{
	int ms = 0;

	tk_launch(empty, 1, 1, NULL, TK_ARGS(&ms));
}

/* The error comes behind the dump, in both contexts. */
static void wait_for(CUresult error)
{
	double start = tk_ms();

	while (cuCtxSynchronize() == CUDA_SUCCESS && tk_ms() - start < 5000)
		tk_sleep_ms(1);
	EXPECT(cuCtxSynchronize(), error);
	CK(cuCtxSetCurrent(second));
	EXPECT(cuCtxSynchronize(), error);
	EXPECT(tk_create_context(&second, tk_device), error);
}

/* The wait says success when the dump is whole. */
static void act_wait(int code)
{
	tk_sync();
	REQUIRE(is_whole());
	wait_for((CUresult)code);
}

static void act_say(int code)
{
	EXPECT(cuCtxSynchronize(), (CUresult)code);
}

/* Nothing waits for the dump but a kernel that comes behind, and who waits for that. */
static void act_late(int code)
{
	CUdeviceptr p = tk_alloc(4);
	int v;

	tk_sync();
	CK(cuMemcpyDtoH(&v, p, 4));
	CK(cuStreamQuery(NULL));
	launch_empty();
	CK(cuCtxSetCurrent(second));
	tk_sync();
	CK(cuCtxSetCurrent(first));
	REQUIRE(access(file, F_OK));
	act_wait(code);
}

static void act_end(int hangs)
{
	double start = tk_ms();

	tk_sync();
	if (!hangs) {
		launch_empty();
		tk_sync();
	}
	CK(cuCtxDestroy(first));
	REQUIRE(hangs == (tk_ms() - start > 3000));
}

static void act_unload(int code)
{
	tk_sync();
	CK(cuModuleUnload(tk_module));
	wait_for((CUresult)code);
}

static void act_exit(int code)
{
	tk_sync();
	exit(code);
}

/* The error does not come. */
static void act_go_on(int code)
{
	launch_empty();
	tk_sync();
	tk_sleep_ms(100);
	EXPECT(cuCtxSynchronize(), (CUresult)code);
}

/* The dump goes to a pipe of which a thread alone has the descriptors, and it to the file that was meant. */
static void *keep(void *unused)
{
	static char path[64];
	char bytes[4096];
	int end[2], out = open(file, O_WRONLY | O_CREAT, 0600);
	ssize_t n;

	REQUIRE(!unshare(CLONE_FILES) && !pipe(end));
	snprintf(path, sizeof(path), "/proc/self/task/%ld/fd/%d", syscall(SYS_gettid), end[1]);
	in_pipe = path;
	while ((n = read(end[0], bytes, sizeof(bytes))) > 0)
		REQUIRE(write(out, bytes, (size_t)n) == n);
	return unused;
}

static void act_pipe(int code)
{
	launch_empty();
	tk_sync();
	wait_for((CUresult)code);
	while (!is_whole())
		tk_sleep_ms(1);
}

static void start(void)
{
	bool off = false;
	size_t size = sizeof(off);

	tk_init();
	enable();
	CK(tk_create_context(&second, tk_device));
	CK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &off, &size)); /* has no effect any more */
	first = tk_new_context();
	empty = tk_kernel("k_spin_ms");
}

/* Prints what an instruction of the dump accesses. */
static int decode(const char *low, const char *high)
{
	uint64_t words[2] = {strtoull(low, NULL, 16), strtoull(high, NULL, 16)};
	struct gmod_operand o;

	REQUIRE(gmod_sass_operand(words, 90, &o));
	printf("%d of %u bytes in %d at R%u%s%+d\n", o.access, o.bytes, o.space, o.base, o.wide ? ".64" : "", o.offset);
	return 0;
}

static const struct act {
	const char *name;
	void (*does)(int code);
} acts[] = {{"wait", act_wait},     {"say", act_say},   {"late", act_late},   {"end", act_end},
	    {"unload", act_unload}, {"exit", act_exit}, {"go-on", act_go_on}, {"pipe", act_pipe}};

int main(int argc, char **argv)
{
	REQUIRE(argc == 4 || argc == 5);
	if (argc == 4)
		return decode(argv[2], argv[3]);
	file = argv[3];
	if (!strcmp(argv[1], "pipe")) {
		tk_begin_thread(keep, NULL);
		while (!in_pipe)
			tk_sleep_ms(1);
	}
	start();
	fault(argv[2]);
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		if (!strcmp(argv[1], acts[i].name))
			acts[i].does(atoi(argv[4]));
	/* What ends beside the threads that have made a dump dies in them. */
	tk_sleep_ms(100);
	return 0;
}
