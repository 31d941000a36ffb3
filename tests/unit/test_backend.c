/*
 * What lib/buffers/backend.h promises to a backend, by one that is made here: the list below stands in for that of
 * lib/buffers/backends.c, and no other file knows of it. The driver has the few entry points that buffers need.
 */
#include "lib/buffers/backend.h"

#include "lib/buffers/buffer.h"
#include "lib/buffers/peers.h"
#include "tests/unit/buffer.h"

/* ---- the backend: ordinary memory, for device buffers of whole pages ---- */

enum { SIZE = 8192, CONTEXT = 0x7000, NATIVE = 0x9000 };

static struct {
	bool declines, cannot_alloc, cannot_arm, cannot_begin_free, cannot_free;
} wish;
static char calls[256];
static size_t total;
static enum gmod_answer answer;

static void called(const char *what)
{
	strncat(calls, what, sizeof(calls) - strlen(calls) - 1);
	strncat(calls, " ", sizeof(calls) - strlen(calls) - 1);
}

static void check_calls(const char *expected)
{
	CHECK(!strcmp(calls, expected), "%s, not %s", calls, expected);
	calls[0] = '\0';
}

/* The words are what alloc left there. */
static void check_own(struct gmod_record *r)
{
	const uint64_t *own = gmod_record_details(r)->own;

	CHECK(own[0] == 0x1234 && own[1] == r->bounds.user, "%#lx %#lx", own[0], own[1]);
}

static enum gmod_answer accepts(struct gmod_request *q)
{
	called("accepts");
	assert_true(q->context && q->context->device == 3 && !q->reserved);
	if (wish.declines || q->memory != GMOD_MEM_DEVICE)
		return GMOD_DECLINES;
	return answer;
}

static CUresult alloc(const struct gmod_request *q, uint64_t own[2], struct gmod_place *place)
{
	struct gmod_layout l;
	void *p;

	called("alloc");
	if (wish.cannot_alloc)
		return CUDA_ERROR_OUT_OF_MEMORY;
	assert_true(gmod_layout_device(q->size, gmod_page_size(), &l));
	p = mmap(NULL, l.total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	total = l.total;
	gmod_layout_place(&l, q->size, (uint64_t)(uintptr_t)p, place);
	assert_true(!own[0] && !own[1]);
	own[0] = 0x1234;
	own[1] = place->user;
	return CUDA_SUCCESS;
}

static bool arm(const struct gmod_request *q, struct gmod_record *r, const struct gmod_slack *slack)
{
	called("arm");
	assert_true(q->context == gmod_record_details(r)->context && !slack);
	check_own(r);
	assert_true(!gmod_record_live(r));
	return !wish.cannot_arm;
}

static CUresult begin_free(struct gmod_record *r)
{
	called("begin_free");
	check_own(r);
	return wish.cannot_begin_free ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

static void look(struct gmod_record *r, struct gmod_moment swept)
{
	called("look");
	check_own(r);
	gmod_verify_released(r, GMOD_VERIFY_ALL, NULL, swept);
}

static void unmap(struct gmod_record *r)
{
	check_own(r);
	assert_int_equal(munmap((void *)(uintptr_t)gmod_record_details(r)->raw, total), 0);
}

static CUresult give_back(struct gmod_record *r)
{
	called("free");
	if (wish.cannot_free)
		return CUDA_ERROR_LAUNCH_FAILED;
	unmap(r);
	return CUDA_SUCCESS;
}

static void drop(struct gmod_record *r)
{
	called("drop");
	unmap(r);
}

static void open_to(const struct gmod_record *r, uint64_t devices)
{
	called("open");
	assert_true(gmod_record_live(r) && devices == 1 << 5);
}

static bool works(int ordinal)
{
	return ordinal == 3;
}

static void context_gone(struct gmod_context *c)
{
	called("gone");
	assert_int_equal(c->device, 3);
}

static const struct gmod_backend paper = {
    .name = "paper",
    .says = "paper, all buffers are ordinary memory",
    .sees_body = true,
    .accepts = accepts,
    .alloc = alloc,
    .arm = arm,
    .begin_free = begin_free,
    .look = look,
    .free = give_back,
    .drop = drop,
    .open = open_to,
    .works = works,
    .context_gone = context_gone,
};

const struct gmod_backend *const gmod_backends[] = {&paper, NULL};

/* ---- the driver ---- */

static CUresult CUDAAPI current(CUcontext *c)
{
	*c = (CUcontext)(uintptr_t)CONTEXT;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI device(CUdevice *d)
{
	*d = 3;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI no_stream(CUstream *stream, unsigned flags, int priority)
{
	(void)stream;
	(void)flags;
	(void)priority;
	return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult CUDAAPI exchange(CUstreamCaptureMode *mode)
{
	*mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI alloc_natively(CUdeviceptr *p, size_t size)
{
	called("native");
	assert_int_equal(size, SIZE);
	*p = NATIVE;
	return CUDA_SUCCESS;
}

FIXTURE(start)
{
	if (start_gmod(""))
		return -1;
	gmod_driver.cuCtxGetCurrent = current;
	gmod_driver.cuCtxGetDevice = device;
	gmod_driver.cuStreamCreateWithPriority = no_stream;
	gmod_driver.cuThreadExchangeStreamCaptureMode = exchange;
	gmod_driver.cuMemAlloc_v2 = alloc_natively;
	answer = GMOD_ACCEPTS;
	return 0;
}

/* ---- the tests ---- */

static uint64_t allocate(CUresult expected)
{
	struct gmod_request q = {.memory = GMOD_MEM_DEVICE, .size = SIZE};
	uint64_t p = 0;
	CUresult r = gmod_buffer_alloc(&q, &p);

	CHECK(r == expected && !p == (r != CUDA_SUCCESS), "%d %#lx", r, p);
	return p;
}

static void release(uint64_t p, CUresult expected)
{
	struct gmod_found found = gmod_index_find(p);
	CUresult r;

	assert_non_null(found.record);
	r = gmod_buffer_free(&found, "cuMemFree_v2");
	CHECK(r == expected, "%d", r);
	assert_true(!gmod_index_find(p).record == (r == CUDA_SUCCESS));
}

static uint64_t live(void)
{
	struct gmod_registry_stats s;

	gmod_registry_stats(&s);
	return s.live;
}

TEST(a_buffer_comes_and_goes)
{
	uint64_t p = allocate(CUDA_SUCCESS);
	struct gmod_found found = gmod_index_find(p + SIZE - 1);

	check_calls("accepts alloc arm ");
	assert_true(found.record && found.bounds.user == p && found.bounds.size == SIZE && live() == 1);
	assert_ptr_equal(gmod_record_details(found.record)->backend, &paper);
	if (p) /* for the linter: allocate() has checked it */
		memset((void *)(uintptr_t)p, 1, SIZE);
	release(p, CUDA_SUCCESS);
	check_calls("begin_free look free ");
	take_none();
	assert_int_equal(live(), 0);
}

TEST(what_it_does_not_take_is_native)
{
	wish.declines = true;
	assert_int_equal(allocate(CUDA_SUCCESS), NATIVE);
	check_calls("accepts native ");
	wish.declines = false;
	answer = GMOD_LEAVES_NATIVE;
	assert_int_equal(allocate(CUDA_SUCCESS), NATIVE);
	check_calls("accepts native ");
	answer = GMOD_HAS_NO_MEMORY;
	allocate(CUDA_ERROR_OUT_OF_MEMORY);
	check_calls("accepts ");
	answer = GMOD_ACCEPTS;
	wish.cannot_alloc = true;
	assert_int_equal(allocate(CUDA_SUCCESS), NATIVE);
	check_calls("accepts alloc native ");
	wish.cannot_alloc = false;
	wish.cannot_arm = true;
	assert_int_equal(allocate(CUDA_SUCCESS), NATIVE);
	check_calls("accepts alloc arm free native ");
	wish.cannot_arm = false;
	assert_int_equal(live(), 0);
}

TEST(a_refused_free_leaves_the_buffer)
{
	uint64_t p = allocate(CUDA_SUCCESS);

	check_calls("accepts alloc arm ");
	wish.cannot_begin_free = true;
	release(p, CUDA_ERROR_LAUNCH_FAILED);
	check_calls("begin_free ");
	wish.cannot_begin_free = false;
	wish.cannot_free = true;
	release(p, CUDA_ERROR_LAUNCH_FAILED);
	check_calls("begin_free look free ");
	wish.cannot_free = false;
	release(p, CUDA_SUCCESS);
	check_calls("begin_free look free ");
}

TEST(a_finding_names_it)
{
	uint64_t p = allocate(CUDA_SUCCESS);
	char line[1 << 16] = "";
	FILE *f;

	damage(p + SIZE, 1);
	release(p, CUDA_SUCCESS);
	check_calls("accepts alloc arm begin_free look free ");
	f = fopen(log_file, "re");
	assert_true(f && !fseek(f, reports_read, SEEK_SET) && fgets(line, sizeof(line), f));
	fclose(f);
	CHECK(strstr(line, "\"backend\":\"paper\""), "%s", line);
	assert_true(take_one(true).tail);
}

TEST(peers_are_let_in)
{
	uint64_t before = allocate(CUDA_SUCCESS), after;

	gmod_peers_let_in(5, 3);
	check_calls("accepts alloc arm open ");
	after = allocate(CUDA_SUCCESS);
	check_calls("accepts alloc arm open ");
	release(before, CUDA_SUCCESS);
	release(after, CUDA_SUCCESS);
	check_calls("begin_free look free begin_free look free ");
}

TEST(a_buffer_goes_with_its_context)
{
	uint64_t p = allocate(CUDA_SUCCESS);
	CUcontext c = (CUcontext)(uintptr_t)CONTEXT;
	struct gmod_context *entry = gmod_context_teardown_begin(c);

	assert_non_null(entry);
	gmod_context_teardown_cancel(entry);
	assert_non_null(gmod_index_find(p).record);
	entry = gmod_context_teardown_begin(c);
	assert_non_null(entry);
	gmod_context_teardown_commit(entry);
	assert_null(gmod_index_find(p).record);
	check_calls("accepts alloc arm open drop gone ");
	assert_int_equal(live(), 0);
}

static CMFixtureFunction group_setup = start, group_teardown = end_gmod;
