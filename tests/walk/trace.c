/*
 * Records each call and return of a library that was built with -finstrument-functions, for scripts/walk. Preloaded in
 * front of it; GMOD_WALK_FILE names the file: pairs of words, the thread (negative: a return) and the function.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVENTS = 1 << 23 };

static int64_t (*events)[2];
static atomic_size_t used;

__attribute__((constructor)) static void open_file(void)
{
	const char *path = getenv("GMOD_WALK_FILE");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	void *memory;

	if (fd < 0 || ftruncate(fd, EVENTS * sizeof(*events)))
		return;
	memory = mmap(NULL, EVENTS * sizeof(*events), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory != MAP_FAILED)
		events = memory;
}

static void note(void *function, int64_t sign)
{
	size_t i = events ? atomic_fetch_add_explicit(&used, 1, memory_order_relaxed) : EVENTS;

	if (i >= EVENTS)
		return;
	events[i][0] = sign * syscall(SYS_gettid);
	events[i][1] = (int64_t)(intptr_t)function;
}

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)caller;
	note(function, 1);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)caller;
	note(function, -1);
}
