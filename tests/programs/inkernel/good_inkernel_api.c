/* The program asks about the heap of its kernels before there is one, while it is full of buffers, and afterwards. */
#include "inkernel.h"

#include <stdbool.h>
#include <stddef.h>

#include "include/gmod.h"

#pragma weak gmod_status_text
#pragma weak gmod_device_configure
#pragma weak gmod_device_get_stats
#pragma weak gmod_device_check
#pragma weak gmod_version

#define HEAP_BYTES ((uint64_t)32 << 20)

enum { BUFFERS = 300, SIZE = 100, CANARY = 0xa5, GUARDS = 8 };

static bool is_guarded(void)
{
	return gmod_device_get_stats;
}

static void require_status(enum gmod_status status, enum gmod_status wanted)
{
	if (status != wanted)
		fprintf(stderr, "%s; expected: %s\n", gmod_status_text(status), gmod_status_text(wanted));
	REQUIRE(status == wanted);
}

static struct gmod_device_stats stats_are(enum gmod_status wanted)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s), .live_buffers = 1};

	require_status(gmod_device_get_stats(&s), wanted);
	return s;
}

/* What the heap is made with; and there is none yet. */
static void configure(void)
{
	struct gmod_device_config c = {.struct_size = sizeof(c), .heap_bytes = HEAP_BYTES, .guards = GUARDS};

	if (!is_guarded())
		return;
	REQUIRE(!strcmp(gmod_version(), GMOD_VERSION));
	require_status(gmod_device_configure(&c), GMOD_OK);
	REQUIRE(stats_are(GMOD_NO_HEAP).live_buffers == 0);
}

static void require_live(uint64_t buffers, uint64_t released)
{
	struct gmod_device_stats s;

	if (!is_guarded())
		return;
	require_status(gmod_device_check(), GMOD_OK);
	s = stats_are(GMOD_OK);
	REQUIRE(s.live_buffers == buffers && s.live_bytes == buffers * SIZE);
	REQUIRE(s.waiting_buffers == 0 && s.released_buffers == released && s.damaged_entries == 0);
	REQUIRE(s.high_water_buffers == BUFFERS && s.high_water_bytes == BUFFERS * SIZE);
	REQUIRE(s.failed_allocations == 0 && s.findings == 0 && s.findings_lost == 0 && s.passes > 0);
}

/* What the heap was configured with it has. */
static void require_sizes(void)
{
	struct gmod_device_stats s;

	if (!is_guarded())
		return;
	REQUIRE(ik_heap().guards == GUARDS);
	s = stats_are(GMOD_OK);
	REQUIRE(s.heap_bytes == HEAP_BYTES && s.committed_bytes <= HEAP_BYTES);
	REQUIRE(s.used_bytes <= s.peak_bytes && s.peak_bytes <= s.committed_bytes);
}

static bool is_untouched(const void *p, size_t size)
{
	const unsigned char *byte = p;

	for (size_t i = 0; i < size; i++)
		if (byte[i] != CANARY)
			return false;
	return true;
}

/* A program compiled with a header that has fewer members, and one with more. */
static void ask_with_other_headers(void)
{
	size_t few = offsetof(struct gmod_device_stats, used_bytes);
	struct {
		struct gmod_device_stats stats;
		unsigned char more[64];
	} s;

	if (!is_guarded())
		return;
	memset(&s, CANARY, sizeof(s));
	s.stats.struct_size = few;
	require_status(gmod_device_get_stats(&s.stats), GMOD_OK);
	REQUIRE(s.stats.struct_size == few && s.stats.heap_bytes == HEAP_BYTES);
	REQUIRE(is_untouched((char *)&s + few, sizeof(s) - few));
	s.stats.struct_size = sizeof(s);
	require_status(gmod_device_get_stats(&s.stats), GMOD_OK);
	REQUIRE(s.stats.struct_size == sizeof(s) && s.stats.high_water_buffers == BUFFERS);
	REQUIRE(is_untouched(s.more, sizeof(s.more)));
}

int main(void)
{
	CUdeviceptr p;

	if (is_guarded())
		REQUIRE(stats_are(GMOD_INACTIVE).live_buffers == 0);
	ik_start();
	configure();
	p = ik_alloc(BUFFERS, SIZE);
	tk_sync();
	require_live(BUFFERS, 0);
	ik_free(p, BUFFERS, 0);
	tk_sync();
	require_live(0, BUFFERS);
	require_sizes();
	ask_with_other_headers();
	printf("buffers: %d\n", BUFFERS);
}
