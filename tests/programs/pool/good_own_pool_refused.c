// options: max_overhead=100
// under managed: skip-on: sim
// ledger: looks at ranges arrive in pinned memory, as those in stream order do
/* What gmod_guard() and gmod_unguard() refuse or leave out, and that they disturb neither a capture nor anybody's
 * bytes. */
#include "own_pool.h"

#pragma weak gmod_suspend
#pragma weak gmod_continue
#pragma weak gmod_get_stats

static enum gmod_status guarded(CUdeviceptr p, size_t size, size_t padding, CUstream stream)
{
	return gmod_guard((void *)(uintptr_t)p, size, padding, stream, NULL);
}

static uint64_t live_buffers(void)
{
	struct gmod_stats s = {.struct_size = sizeof(s)};

	gmod_get_stats(&s);
	return s.live_buffers;
}

static void refuse(CUdeviceptr p, CUstream stream)
{
	char *pinned = make_pinned(4096);
	uint64_t live;

	REQUIRE(guarded(0, 100, 64, stream) == GMOD_INVALID);
	REQUIRE(guarded(p, 0, 64, stream) == GMOD_INVALID);
	REQUIRE(guarded(p, 100, 3, stream) == GMOD_INVALID);
	REQUIRE(guarded(p, SIZE_MAX, 64, stream) == GMOD_INVALID);
	REQUIRE(unguard_range(p, stream) == GMOD_INVALID);
	REQUIRE(unguard_range(0, stream) == GMOD_INVALID);
	REQUIRE(guarded((CUdeviceptr)(uintptr_t)pinned, 100, 64, stream) == GMOD_SKIPPED);
	live = live_buffers();
	REQUIRE(guarded(p, 100, 64, stream) == GMOD_OK);
	REQUIRE(live_buffers() == live); /* it is a part of one */
	REQUIRE(guarded(p, 100, 64, stream) == GMOD_INVALID);
	REQUIRE(unguard_range(p, stream) == GMOD_OK);
	REQUIRE(unguard_range(p, stream) == GMOD_INVALID);
	REQUIRE(gmod_suspend() == GMOD_OK);
	REQUIRE(guarded(p, 100, 64, stream) == GMOD_SKIPPED);
	REQUIRE(gmod_continue() == GMOD_OK);
	CK(cuMemFreeHost(pinned));
}

/* A range that is guarded may be given back while its stream captures, or in the legacy stream beside. */
static void capture(CUdeviceptr p)
{
	CUstream stream;
	CUgraph graph;

	CK(cuStreamCreate(&stream, CU_STREAM_DEFAULT)); /* it joins the legacy stream */
	REQUIRE(guarded(p, 100, 64, stream) == GMOD_OK);
	REQUIRE(guarded(p + 512, 100, 64, NULL) == GMOD_OK);
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	REQUIRE(unguard_range(p, stream) == GMOD_OK);
	REQUIRE(unguard_range(p + 512, NULL) == GMOD_OK);
	REQUIRE(guarded(p, 100, 64, stream) == GMOD_SKIPPED);
	REQUIRE(guarded(p, 100, 64, NULL) == GMOD_SKIPPED);
	tk_flip_on(stream, p, 0, 100);
	CK(cuStreamEndCapture(stream, &graph));
	tk_run_graph(graph, stream, 2);
}

/* Guard bytes lie behind the last byte of a range, whatever its end, and end before the padding does. */
static void keep_to_the_padding(CUdeviceptr p, CUstream stream)
{
	unsigned char bytes[1024];

	for (size_t size = 100; size < 108; size++)
		for (size_t padding = 4; padding < 12; padding++) {
			CK(cuMemsetD8Async(p, 0, sizeof(bytes), stream));
			REQUIRE(guarded(p, size, padding, stream) == GMOD_OK);
			REQUIRE(unguard_range(p, stream) == GMOD_OK);
			CK(cuMemcpyDtoHAsync(bytes, p, sizeof(bytes), stream));
			CK(cuStreamSynchronize(stream));
			for (size_t i = 0; i < sizeof(bytes); i++)
				REQUIRE(bytes[i] == 0 || (i >= size && i < size + padding));
			REQUIRE(bytes[size] || bytes[size + 1] || bytes[size + 2]); /* no canary is 0 */
		}
}

int main(void)
{
	CUstream stream = tk_stream();
	CUdeviceptr p;

	open_own_pool();
	p = own_pool.memory;
	if (gmod_guard) {
		refuse(p, stream);
		capture(p);
		keep_to_the_padding(p, stream);
	}
	CK(cuMemFree(own_pool.memory));
}
