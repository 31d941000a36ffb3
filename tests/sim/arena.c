/*
 * Address ranges. Two arenas are reserved at start: device memory (2 MiB granules of one sparse memfd) and
 * private memory of page granules (managed and pinned). Everything the driver gives out lies in one of
 * them, so that a freed range is never somebody else's heap: until the driver reuses it, touching it faults.
 *
 * Of private memory sizes are rounded up to one of four classes a doubling, and a hole is reused only by its own class,
 * the youngest first, so that addresses come back as quickly as a real driver's do.
 */
#include "sim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct arena sim_device_arena, sim_host_arena;

struct hole {
	struct hole *next;
	uintptr_t at;
};

static unsigned log2_floor(size_t n)
{
	return 63 - __builtin_clzl(n);
}

/* The class of n granules; *rounded is how many granules that class has. */
static unsigned class_of(size_t n, size_t *rounded)
{
	unsigned shift, step;

	if (n <= 8) {
		*rounded = n;
		return n;
	}
	shift = log2_floor(n - 1) - 2;
	step = ((n - 1) >> shift) + 1; /* 5..8 quarters */
	*rounded = (size_t)step << shift;
	return 8 + 4 * shift + (step - 4);
}

static size_t granules(const struct arena *arena, size_t bytes)
{
	return bytes / arena->granule + (bytes % arena->granule != 0);
}

uintptr_t arena_take(struct arena *arena, size_t bytes)
{
	size_t rounded;
	struct hole *hole;
	unsigned class;
	uintptr_t at;

	if (bytes == 0 || bytes > arena->size)
		return 0;
	class = class_of(granules(arena, bytes), &rounded);
	hole = arena->holes[class];
	if (hole) {
		arena->holes[class] = hole->next;
		at = hole->at;
		free(hole);
		return at;
	}
	if (rounded > (arena->size - arena->top) / arena->granule)
		return 0;
	at = arena->base + arena->top;
	arena->top += rounded * arena->granule;
	return at;
}

void arena_give(struct arena *arena, uintptr_t at, size_t bytes)
{
	size_t rounded;
	unsigned class = class_of(granules(arena, bytes), &rounded);
	struct hole *hole = malloc(sizeof(*hole));

	if (!hole)
		return; /* the range is lost, nothing else */
	*hole = (struct hole){arena->holes[class], at};
	arena->holes[class] = hole;
}

bool arena_open(struct arena *arena, uintptr_t at, size_t bytes)
{
	size_t length = granules(arena, bytes) * arena->granule;
	int kind = arena->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	off_t offset = arena->fd < 0 ? 0 : (off_t)(at - arena->base);

	return mmap((void *)at, length, PROT_READ | PROT_WRITE, kind | MAP_FIXED | MAP_NORESERVE, arena->fd, offset) !=
	       MAP_FAILED;
}

void range_close(uintptr_t at, size_t length)
{
	access_take(at, length);
	(void)mmap((void *)at, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

void arena_close(struct arena *arena, uintptr_t at, size_t bytes)
{
	size_t length = granules(arena, bytes) * arena->granule;

	range_close(at, length);
	if (arena->fd >= 0)
		fallocate(arena->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at - arena->base, length);
}

static bool arena_create(struct arena *arena, size_t size, size_t granule, int fd)
{
	void *at = mmap(NULL, size + granule, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	arena->base = ((uintptr_t)at + granule - 1) / granule * granule;
	arena->size = size;
	arena->granule = granule;
	arena->fd = fd;
	return true;
}

static bool create_device_arena(size_t size, int fd)
{
	return ftruncate(fd, (off_t)size) == 0 && arena_create(&sim_device_arena, size, SIM_CHUNK, fd);
}

/* Addresses also for reservations of 1 TiB, where there are as many: under ThreadSanitizer there are not. */
static bool create_large_device_arena(size_t least, int fd)
{
	for (size_t size = (size_t)17 << 36; size > least; size /= 2)
		if (create_device_arena(size, fd))
			return true;
	return create_device_arena(least, fd);
}

bool arenas_create(void)
{
	size_t size = (size_t)64 << 30, wanted = 4 * sim.devices * sim.memory;
	int fd = memfd_create("simulated device memory", MFD_CLOEXEC);

	if (fd < 0)
		return false;
	if (size < wanted)
		size = (wanted + SIM_CHUNK - 1) / SIM_CHUNK * SIM_CHUNK;
	if (!create_large_device_arena(size, fd) || !arena_create(&sim_host_arena, size, sim.page, -1) ||
	    !access_create() || !chunks_create()) {
		close(fd);
		return false;
	}
	return true;
}

/* The end of driver memory: at exit. */
void arenas_seal(bool host_too)
{
	range_close(sim_device_arena.base, sim_device_arena.size);
	if (host_too)
		range_close(sim_host_arena.base, sim_host_arena.size);
}
