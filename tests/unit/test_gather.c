/*
 * The gather, with a driver whose copies land when a test says so: what it compares has landed, belongs to the buffer
 * still, and was intact when its copy was asked for.
 */
#include "lib/buffers/gather.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include "lib/driver/driver.h"
#include "tests/unit/sweeping.h"

/* ---- the driver ---- */

enum { COPIES = 256, SIZE = 5000 };

static struct {
	struct {
		void *to;
		CUdeviceptr from;
		size_t size;
	} copy[COPIES]; /* that have not landed */
	unsigned copies, asked;
	struct gmod_moment first;  /* when the first was asked for */
	void (*while_asked)(void); /* inside such a call, once */
	void (*while_awaited)(void);
	unsigned not_ready; /* so often the copies have not landed */
	unsigned batches, wrong_batches;
} driver;
static char *pinned;
static size_t pinned_size;

static CUresult CUDAAPI push(CUcontext c)
{
	(void)c;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI pop(CUcontext *c)
{
	*c = NULL;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI exchange(CUstreamCaptureMode *mode)
{
	*mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI create(CUevent *event, unsigned flags)
{
	(void)flags;
	*event = (CUevent)&driver;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI record(CUevent event, CUstream stream)
{
	(void)event;
	(void)stream;
	return CUDA_SUCCESS;
}

static void call_once(void (**what)(void))
{
	void (*it)(void) = *what;

	*what = NULL;
	if (it)
		it();
}

static CUresult CUDAAPI query(CUevent event)
{
	(void)event;
	call_once(&driver.while_awaited);
	if (driver.not_ready) {
		driver.not_ready--;
		return CUDA_ERROR_NOT_READY;
	}
	for (unsigned i = 0; i < driver.copies; i++)
		memcpy(driver.copy[i].to, (const void *)(uintptr_t)driver.copy[i].from, driver.copy[i].size);
	driver.copies = 0;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI pin_pages(void *p, size_t size, unsigned flags)
{
	(void)flags;
	memset(p, 0, size);
	pinned = p;
	pinned_size = size;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI to_host(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
	(void)stream;
	if (!driver.asked++)
		driver.first = gmod_now();
	assert_true(driver.copies < COPIES);
	assert_true((char *)to >= pinned && (size_t)((char *)to - pinned) + size <= pinned_size);
	driver.copy[driver.copies].to = to;
	driver.copy[driver.copies].from = from;
	driver.copy[driver.copies++].size = size;
	call_once(&driver.while_asked);
	return CUDA_SUCCESS;
}

static bool is_pinned(CUdeviceptr p, size_t size)
{
	return p >= (uintptr_t)pinned && p - (uintptr_t)pinned + size <= pinned_size;
}

/* What is wrong is judged later: the caller has a lock. */
static CUresult CUDAAPI together(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
				 CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count, CUstream stream)
{
	driver.batches++;
	for (size_t i = 0; i < count; i++)
		if (attributes && first && attribute_count == 1 && is_pinned(to[i], sizes[i]))
			to_host((void *)(uintptr_t)to[i], from[i], sizes[i], stream);
		else
			driver.wrong_batches++;
	return CUDA_SUCCESS;
}

static void set_driver(void)
{
	memset(&driver, 0, sizeof(driver));
	gmod_driver.cuCtxPushCurrent_v2 = push;
	gmod_driver.cuCtxPopCurrent_v2 = pop;
	gmod_driver.cuThreadExchangeStreamCaptureMode = exchange;
	gmod_driver.cuEventCreate = create;
	gmod_driver.cuEventRecord = record;
	gmod_driver.cuEventQuery = query;
	gmod_driver.cuMemHostRegister_v2 = pin_pages;
	gmod_driver.cuMemcpyDtoHAsync_v2 = to_host;
	gmod_driver.cuMemcpyBatchAsync_v2 = NULL;
}

/* ---- a buffer in the only context ---- */

static struct buffer b;

static struct buffer buffer_with_slack(void)
{
	struct buffer fresh = new_buffer(SIZE, GMOD_MEM_DEVICE);

	gmod_record_details(fresh.record)->context = gmod_context_at(0);
	return fresh;
}

FIXTURE(make_one)
{
	struct gmod_context *context = gmod_context_at(0);

	set_driver();
	context->handle = (CUcontext)&driver;
	context->stream = (CUstream)&driver;
	context->state = GMOD_CONTEXT_ALIVE;
	b = buffer_with_slack();
	return 0;
}

FIXTURE(free_it)
{
	if (b.memory)
		free_quietly(&b);
	return 0;
}

#define GATHERED(test) TEST_FIXTURE(test, make_one, free_it)

static bool gather(void)
{
	bool all = gmod_gather(NULL, GMOD_GATHER_NEAR);

	gmod_damage_settle(true);
	return all;
}

/* ---- the tests ---- */

GATHERED(several_pieces_come_together)
{
	enum { PIECES = 2 };
	struct buffer second = buffer_with_slack();

	assert_true(dlopen("libcuda.so.1", RTLD_LAZY) && gmod_driver_resolve());
	set_driver();
	gmod_driver.cuMemcpyBatchAsync_v2 = together;
	damage(second.place.user_end, 3);
	gather();
	assert_true(driver.batches > 0 && driver.asked >= PIECES && !driver.wrong_batches);
	take_checked(true, &second, second.place.user_end, 3, 3);
	free_quietly(&second);
}

GATHERED(slack_was_intact_when_its_copy_was_asked_for)
{
	const struct gmod_details *d = gmod_record_details(b.record);

	driver.not_ready = 3;
	assert_true(gather());
	take_none();
	assert_true(driver.asked > 0 && d->slack[GMOD_TAIL].ticks > d->allocated_ticks);
	assert_true(d->slack[GMOD_TAIL].ticks < driver.first.ticks && d->slack[GMOD_TAIL].ns <= driver.first.ns);
	damage(b.place.user_end, 3);
	gather();
	take_checked(true, &b, b.place.user_end, 3, 3);
	assert_true(d->slack[GMOD_TAIL].ticks < driver.first.ticks);
}

GATHERED(late_copies_are_waited_for_before_there_are_more)
{
	unsigned asked;

	driver.not_ready = UINT32_MAX;
	assert_false(gather());
	asked = driver.asked;
	assert_true(asked > 0);
	assert_false(gather());
	assert_int_equal(driver.asked, asked);
	driver.not_ready = 0;
	assert_true(gather());
	assert_int_equal(driver.asked, 2 * asked);
	take_none();
}

static void use_record_again(void)
{
	const struct gmod_record *r = b.record;
	struct buffer next;

	free_quietly(&b);
	/* The copies are of pages that nobody has any more. */
	driver.copies = 0;
	next = buffer_with_slack();
	assert_ptr_equal(next.record, r);
	b = next;
}

GATHERED(what_was_copied_of_the_buffer_before_is_not_compared)
{
	driver.while_awaited = use_record_again;
	gather();
	take_none();
}

/* More than there is room for at a time. */
GATHERED(all_slack_of_many_comes_in_turn)
{
	enum { BUFFERS = 100 };
	static struct buffer many_buffers[BUFFERS];

	for (int i = 0; i < BUFFERS; i++) {
		many_buffers[i] = new_buffer(1, GMOD_MEM_DEVICE);
		gmod_record_details(many_buffers[i].record)->context = gmod_context_at(0);
	}
	assert_true(gmod_gather(NULL, GMOD_GATHER_WHOLE));
	assert_true(driver.asked > BUFFERS);
	take_none();
	damage(many_buffers[BUFFERS - 1].place.user - 1, 1);
	gmod_gather(NULL, GMOD_GATHER_WHOLE);
	gmod_damage_settle(true);
	take_checked(true, &many_buffers[BUFFERS - 1], many_buffers[BUFFERS - 1].place.user - 1, 1, 1);
	for (int i = 0; i < BUFFERS; i++)
		free_quietly(&many_buffers[i]);
}

static struct {
	atomic_bool go, released;
	bool too_early;
} other;

static void *release_it(void *unused)
{
	while (!atomic_load(&other.go))
		sched_yield();
	if (release_buffer(&b))
		atomic_store(&other.released, true);
	return unused;
}

static void let_it_release(void)
{
	atomic_store(&other.go, true);
	usleep(20000);
	other.too_early = atomic_load(&other.released);
}

GATHERED(a_release_waits_until_the_copies_are_asked_for)
{
	pthread_t thread = begin_thread(release_it, NULL);

	driver.while_asked = let_it_release;
	gather();
	end_thread(thread);
	assert_false(other.too_early);
	assert_true(atomic_load(&other.released));
	take_none();
	drop_buffer(&b);
}
