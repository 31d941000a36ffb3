/*
 * What lib/buffers/backend.h promises to a backend, by one that is made here: the list below stands in for that of
 * lib/buffers/backends.c, and no other file knows of it. The driver has the few entry points that buffers need.
 */
#include "lib/buffers/backend.h"

#include <sched.h>

#include "lib/buffers/buffer.h"
#include "lib/buffers/peers.h"
#include "lib/buffers/look.h"
#include "lib/buffers/patrol.h"
#include "tests/unit/buffer.h"

/* ---- the backend: ordinary memory, for device buffers of whole pages ---- */

enum { SIZE = 8192, CONTEXT = 0x7000, NATIVE = 0x9000 };

static struct {
	bool declines, cannot_free, cannot_copy, cannot_pin, is_late;
} wish;
static const struct gmod_slack *sent_from; /* the latest copy to the device */
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

/* The word is what alloc wanted there. */
static void check_own(struct gmod_record *r)
{
	uint64_t own = gmod_record_details(r)->own;

	CHECK(own == r->bounds.user, "%#lx", own);
}

static enum gmod_answer alloc(struct gmod_request *q, struct gmod_place *place)
{
	struct gmod_layout l;
	void *p;

	called("alloc");
	assert_true(q->context && q->context->device == 3);
	if (wish.declines || q->memory != GMOD_MEM_DEVICE)
		return GMOD_DECLINES;
	if (answer != GMOD_ACCEPTS)
		return answer;
	assert_true(gmod_layout_device(q->size, gmod_page_size(), &l));
	p = mmap(NULL, l.total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	total = l.total;
	gmod_layout_place(&l, q->size, (uint64_t)(uintptr_t)p, place);
	assert_true(!q->own);
	q->own = place->user;
	return GMOD_ACCEPTS;
}

static void arm(const struct gmod_request *q, struct gmod_record *r)
{
	called("arm");
	assert_true(q->context == gmod_record_details(r)->context);
	check_own(r);
	assert_true(!gmod_record_live(r));
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

static void lose(struct gmod_record *r)
{
	called("lose");
	unmap(r);
}

/* Another thread's release meanwhile. */
static struct {
	struct gmod_record *record;
	atomic_bool go, released;
	bool too_early;
} other;

static void *release_it(void *unused)
{
	while (!atomic_load(&other.go))
		sched_yield();
	if (gmod_record_begin_release(other.record, gmod_record_live(other.record)))
		atomic_store(&other.released, true);
	return unused;
}

static void open_to(const struct gmod_record *r, uint64_t devices)
{
	called("open");
	assert_true(gmod_record_live(r) && devices == 1 << 5);
	if (r != other.record)
		return;
	atomic_store(&other.go, true);
	usleep(20000);
	other.too_early = atomic_load(&other.released);
}

static bool works(int ordinal)
{
	return ordinal == 3;
}

static struct gmod_backend paper = {
    .name = "paper",
    .says = "paper, all buffers are ordinary memory",
    .sees_body = true,
    .alloc = alloc,
    .arm = arm,
    .free = give_back,
    .lose = lose,
    .open = open_to,
    .works = works,
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
	assert_true(size && size <= SIZE);
	*p = NATIVE;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI free_natively(CUdeviceptr p)
{
	called("native_free");
	assert_int_equal(p, NATIVE);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI to_device(const CUDA_MEMCPY2D *c, CUstream stream)
{
	(void)stream;
	called("to_device");
	if (wish.cannot_copy)
		return CUDA_ERROR_LAUNCH_FAILED;
	sent_from = c->srcHost;
	for (size_t row = 0; row < c->Height; row++)
		memcpy((void *)(uintptr_t)(c->dstDevice + row * c->dstPitch),
		       (const char *)c->srcHost + row * c->srcPitch, c->WidthInBytes);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI to_host(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
	(void)stream;
	called("to_host");
	memcpy(to, (void *)(uintptr_t)from, size);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI is_done(CUstream stream)
{
	(void)stream;
	return wish.is_late ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static unsigned asked_to_pin;

static CUresult CUDAAPI pin(void *p, size_t size, unsigned flags)
{
	(void)flags;
	asked_to_pin++;
	if (wish.cannot_pin)
		return CUDA_ERROR_NOT_SUPPORTED;
	memset(p, 0, size);
	return CUDA_SUCCESS;
}

static uint8_t of_the_driver[1];

static CUresult CUDAAPI alloc_pinned(void **p, size_t size, unsigned flags)
{
	(void)size;
	(void)flags;
	*p = of_the_driver;
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
	gmod_driver.cuMemFree_v2 = free_natively;
	gmod_driver.cuMemcpy2DAsync_v2 = to_device;
	gmod_driver.cuMemcpyDtoHAsync_v2 = to_host;
	gmod_driver.cuStreamQuery = is_done;
	gmod_driver.cuMemHostRegister_v2 = pin;
	gmod_driver.cuMemHostAlloc = alloc_pinned;
	gmod_driver.cuStreamSynchronize = is_done;
	answer = GMOD_ACCEPTS;
	return 0;
}

/* ---- the tests ---- */

static uint64_t allocate_some(size_t size, CUresult expected)
{
	struct gmod_request q = {.memory = GMOD_MEM_DEVICE, .size = size};
	uint64_t p = 0;
	CUresult r = gmod_buffer_alloc(&q, &p);

	CHECK(r == expected && !p == (r != CUDA_SUCCESS), "%d %#lx", r, p);
	return p;
}

static uint64_t allocate(CUresult expected)
{
	return allocate_some(SIZE, expected);
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

	check_calls("alloc arm ");
	assert_true(found.record && found.bounds.user == p && found.bounds.size == SIZE && live() == 1);
	assert_ptr_equal(gmod_record_details(found.record)->backend, &paper);
	if (p) /* for the linter: allocate() has checked it */
		memset((void *)(uintptr_t)p, 1, SIZE);
	release(p, CUDA_SUCCESS);
	check_calls("free ");
	take_none();
	assert_int_equal(live(), 0);
}

TEST(what_it_does_not_take_is_native)
{
	wish.declines = true;
	assert_int_equal(allocate(CUDA_SUCCESS), NATIVE);
	check_calls("alloc native ");
	wish.declines = false;
	answer = GMOD_FAILS;
	assert_int_equal(allocate(CUDA_SUCCESS), NATIVE);
	check_calls("alloc native ");
	answer = GMOD_ACCEPTS;
	assert_int_equal(live(), 0);
}

/*
 * Without the canaries beside the user's bytes it must not be guarded. They come back only where the program has done
 * something since, and then the wait, by a tiny buffer that comes and goes, is before the look.
 */
TEST(slack_goes_by_copies)
{
	uint64_t p;

	paper.sees_body = false;
	p = allocate_some(SIZE - 512, CUDA_SUCCESS);
	check_calls("alloc to_device arm ");
	release(p, CUDA_SUCCESS);
	check_calls("free ");
	take_none();
	p = allocate_some(SIZE - 512, CUDA_SUCCESS);
	damage(p - 1, 1);
	gmod_note_activity(gmod_thread_self());
	release(p, CUDA_SUCCESS);
	check_calls("alloc to_device arm to_host free ");
	assert_false(take_one(true).tail);
	/* Something may run still. */
	p = allocate_some(SIZE - 512, CUDA_SUCCESS);
	begin_work();
	release(p, CUDA_SUCCESS);
	check_calls("alloc to_device arm native native native_free to_host free ");
	end_work();
	wish.cannot_copy = true;
	assert_int_equal(allocate_some(SIZE - 512, CUDA_SUCCESS), NATIVE);
	check_calls("alloc to_device free native ");
	wish.cannot_copy = false;
	paper.sees_body = true;
	assert_int_equal(live(), 0);
}

/* A copy from pinned memory may read it as long as it has not ended. */
TEST(what_is_late_keeps_its_place)
{
	struct gmod_context *c = gmod_context_current();
	const struct gmod_slack *late;
	uint64_t p[3];

	paper.sees_body = false;
	wish.is_late = true;
	p[0] = allocate_some(SIZE - 512, CUDA_SUCCESS);
	late = sent_from;
	assert_true(c->late_since > 0);
	wish.is_late = false;
	assert_ptr_equal(late, gmod_pinned(c, &c->staging) + GMOD_STAGING);
	for (int i = 1; i <= 2; i++) {
		p[i] = allocate_some(SIZE - 512, CUDA_SUCCESS);
		assert_ptr_equal(sent_from, late + 1);
		assert_true(c->late_since == 0);
	}
	/* With its context such a copy is gone. */
	c->staging.life = 0;
	release(p[0], CUDA_SUCCESS);
	p[0] = allocate_some(SIZE - 512, CUDA_SUCCESS);
	assert_ptr_equal(sent_from, late);
	for (int i = 0; i < 3; i++)
		release(p[i], CUDA_SUCCESS);
	paper.sees_body = true;
	calls[0] = '\0';
}

/* What the driver gives instead goes with the context, and no look may outlive it there. */
TEST(pages_are_pinned_for_one_context)
{
	struct gmod_context *c = gmod_context_current();
	const uint8_t *staging = gmod_pinned(c, &c->staging), *looks = gmod_pinned(c, &c->looks);
	unsigned asked = asked_to_pin;

	assert_true(staging && looks);
	wish.cannot_pin = true;
	assert_ptr_equal(gmod_pinned(c, &c->staging), staging);
	c->staging.life = c->looks.life = 0;
	for (int i = 0; i < 2; i++) {
		assert_ptr_equal(gmod_pinned(c, &c->staging), of_the_driver);
		assert_null(gmod_pinned(c, &c->looks));
	}
	assert_int_equal(asked_to_pin, asked + 2);
	wish.cannot_pin = false;
	c->staging.life = c->looks.refused = 0;
	assert_ptr_equal(gmod_pinned(c, &c->staging), staging);
	assert_ptr_equal(gmod_pinned(c, &c->looks), looks);
	assert_int_equal(asked_to_pin, asked + 4);
}

/* Rounds that come later look elsewhere, also where the free is refused and comes again. */
TEST(rounds_speak_of_a_buffer_until_it_is_removed)
{
	uint64_t p = allocate(CUDA_SUCCESS);
	const struct gmod_record *r = gmod_index_find(p).record;
	const struct gmod_details *d = gmod_record_details(r);
	struct gmod_rounds *rounds;

	gmod_patrol_add(r);
	rounds = (struct gmod_rounds *)d->patrolled;
	assert_non_null(rounds);
	assert_true(d->patrolled_to == UINT32_MAX);
	for (rounds->latest = 5; rounds->latest < 7; rounds->latest++) {
		gmod_patrol_remove(r);
		assert_int_equal(d->patrolled_to, 5);
	}
	release(p, CUDA_SUCCESS);
	calls[0] = '\0';
}

TEST(a_refused_free_leaves_the_buffer)
{
	uint64_t p = allocate(CUDA_SUCCESS);

	check_calls("alloc arm ");
	wish.cannot_free = true;
	release(p, CUDA_ERROR_LAUNCH_FAILED);
	check_calls("free ");
	wish.cannot_free = false;
	release(p, CUDA_SUCCESS);
	check_calls("free ");
}

TEST(a_finding_names_it)
{
	uint64_t p = allocate(CUDA_SUCCESS);
	char line[1 << 16] = "";
	FILE *f;

	damage(p + SIZE, 1);
	release(p, CUDA_SUCCESS);
	check_calls("alloc arm free ");
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
	check_calls("alloc arm open ");
	after = allocate(CUDA_SUCCESS);
	check_calls("alloc arm open ");
	release(before, CUDA_SUCCESS);
	release(after, CUDA_SUCCESS);
	check_calls("free free ");
}

TEST(a_buffer_stays_while_peers_are_let_in)
{
	uint64_t p = allocate(CUDA_SUCCESS);
	pthread_t thread;

	calls[0] = '\0';
	other.record = gmod_index_find(p).record;
	thread = begin_thread(release_it, NULL);
	gmod_peers_let_in(5, 3);
	end_thread(thread);
	assert_true(atomic_load(&other.released));
	assert_false(other.too_early);
	gmod_record_reinstate(other.record);
	other.record = NULL;
	release(p, CUDA_SUCCESS);
	check_calls("open free ");
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
	check_calls("alloc arm open lose ");
	assert_int_equal(live(), 0);
}

static CMFixtureFunction group_setup = start, group_teardown = end_gmod;
