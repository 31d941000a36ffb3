/*
 * walks: makes the walks that tests/gauge/gauge measures, and prints which functions of an instrumented libgmod
 * its thread enters (+) and leaves (-), by their offsets in the library. Each turn begins with "=" and its name.
 *
 * All turns of a name have to be the same. The library therefore gets no threads: gmod_check() looks in the place of
 * the monitor, and this thread tells what it finds. And the device finishes its work before the library enters its next
 * function, so that none has to wait or to ask again.
 */
#include <dlfcn.h>
#include <errno.h>

#include "include/gmod.h"
#include "testkit.h"

#pragma weak gmod_check

#define EXPORTED __attribute__((visibility("default")))

/*
 * The library tries a thread again at the 2nd, 4th, 8th ... buffer: so many first, and no turn meets a try. With those
 * that come first there are no more findings than the site has reports (GMOD_REPORTS_PER_SITE).
 */
enum { WARM = 40, WARM_FINDINGS = 2, TURNS = 3, MOST = 1 << 18 };

static struct {
	char step;
	void *function;
} steps[MOST];
static unsigned count;
static _Thread_local int notes;
static CUresult (*synchronize)(void);

static void note(char step, void *function)
{
	int saved = errno;

	if (!notes)
		return;
	REQUIRE(count < MOST);
	steps[count].step = step;
	steps[count++].function = function;
	synchronize();
	errno = saved;
}

EXPORTED void __cyg_profile_func_enter(void *function, void *caller TK_UNUSED)
{
	note('+', function);
}

EXPORTED void __cyg_profile_func_exit(void *function, void *caller TK_UNUSED)
{
	note('-', function);
}

/* The driver's threads come through here, too. */
EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
	__typeof__(&pthread_create) next;
	Dl_info info;

	if (dladdr(*(void **)&run, &info) && strstr(info.dli_fname, "libgmod"))
		return EAGAIN;
	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attributes, run, arg);
}

/* The driver's own: the library would take a call of its hook for a wait of the program. */
static void find_synchronize(void)
{
	void *on_x86 = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.2.5"), *(*libc_dlsym)(void *, const char *);

	*(void **)&libc_dlsym = on_x86 ? on_x86 : dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.17");
	*(void **)&synchronize = libc_dlsym(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), "cuCtxSynchronize");
	REQUIRE(synchronize);
}

static void print(const char *name)
{
	Dl_info info;

	printf("=%s\n", name);
	for (unsigned i = 0; i < count; i++) {
		REQUIRE(dladdr(steps[i].function, &info));
		printf("%c%tx\n", steps[i].step, (char *)steps[i].function - (char *)info.dli_fbase);
	}
	count = 0;
}

static void repeat(const char *name, int warm, void (*turn)(void))
{
	for (int i = 0; i < warm + TURNS; i++) {
		notes = i >= warm;
		turn();
		notes = 0;
		if (i >= warm)
			print(name);
	}
}

static CUstream stream;
static CUfunction flip;

static void flip_byte(CUdeviceptr p, long long off)
{
	tk_launch(flip, 1, 1, stream, TK_ARGS(&p, &off, &(long long){1}));
}

/* No wait before the free: it waits for the kernel by itself, and reads the canaries. */
static void guarded(void)
{
	CUdeviceptr p = tk_alloc(1000);

	flip_byte(p, 0);
	CK(cuMemFree(p));
}

static void pooled(void)
{
	CUdeviceptr p;

	CK(cuMemAllocAsync(&p, 1000, stream));
	CK(cuMemFreeAsync(p, stream));
}

static void overrun(void)
{
	CUdeviceptr p = tk_alloc(1000);

	flip_byte(p, 1000);
	tk_sync();
	REQUIRE(gmod_check() == GMOD_OK);
	CK(cuMemFree(p));
}

int main(void)
{
	stream = tk_stream();
	flip = tk_kernel("k_flip");
	find_synchronize();
	repeat("guarded", WARM, guarded);
	repeat("pooled", WARM, pooled);
	repeat("overrun", WARM_FINDINGS, overrun);
	return 0;
}
