/* The table of green contexts: what is found of them by any thread, and what waits prove of their streams. */
#include <pthread.h>
#include <stdatomic.h>

#include "lib/context/green.h"
#include "monitor/launches/proof.h"
#include "tests/unit/proving.h"
#include "tests/unit/support.h"

enum { MOST = 256 };

static CUcontext context_at(uint64_t handle)
{
	return (CUcontext)(uintptr_t)handle;
}

static struct gmod_green green_of(uint64_t handle, uint64_t home)
{
	return (struct gmod_green){context_at(handle), context_at(home), (int)(handle >> 4 & 7)};
}

static bool is_found(uint64_t handle, uint64_t home)
{
	struct gmod_green found;

	return gmod_green_find(context_at(handle), &found) && found.context == context_at(handle) &&
	       found.home == context_at(home) && found.device == (int)(handle >> 4 & 7);
}

static void found_while_there(void **state)
{
	uint64_t a = new_handle(), b = new_handle(), home = new_handle();
	struct gmod_green green = green_of(a, home), found;

	(void)state;
	assert_false(gmod_green_find(context_at(a), &found));
	assert_false(gmod_green_find(NULL, &found));
	assert_true(gmod_green_made(&green));
	assert_true(is_found(a, home));
	assert_false(gmod_green_find(context_at(b), &found));
	assert_false(gmod_green_find(context_at(home), &found));
	gmod_green_gone(context_at(b));
	gmod_green_gone(NULL);
	assert_true(is_found(a, home));
	gmod_green_gone(context_at(a));
	assert_false(gmod_green_find(context_at(a), &found));
}

static void no_more_than_there_is_room(void **state)
{
	uint64_t first = new_handle(), home = new_handle(), handle = first;
	struct gmod_green green;

	(void)state;
	for (int i = 0; i < MOST; i++, handle = new_handle()) {
		green = green_of(i ? handle : first, home);
		assert_true(gmod_green_made(&green));
	}
	green = green_of(handle, home);
	assert_false(gmod_green_made(&green));
	gmod_green_gone(context_at(first));
	assert_true(gmod_green_made(&green));
	assert_true(is_found(handle, home));
	for (uint64_t h = first; h <= handle; h += 0x10)
		gmod_green_gone(context_at(h));
	assert_false(is_found(handle, home));
}

static void a_wait_in_the_primary_proves_all(void **state)
{
	uint64_t green_handle = new_handle(), other = new_handle(), home = new_handle(), elsewhere = new_handle();
	struct gmod_green green = green_of(green_handle, home), of_another = green_of(other, elsewhere);
	uint64_t launched = later(), began = later();

	(void)state;
	assert_true(gmod_green_made(&green) && gmod_green_made(&of_another));
	gmod_prove_context_wait(home, began);
	assert_true(gmod_proven(home, new_handle(), launched));
	assert_true(gmod_proven(green_handle, new_handle(), launched));
	assert_false(gmod_proven(other, new_handle(), launched));
	gmod_green_gone(green.context);
	gmod_green_gone(of_another.context);
}

static void a_wait_in_a_green_one_proves_its_streams(void **state)
{
	uint64_t handle = new_handle(), home = new_handle(), launched = later(), began = later();
	uint64_t ours = new_handle(), destroyed = new_handle(), theirs = new_handle();
	struct gmod_green green = green_of(handle, home);

	(void)state;
	assert_true(gmod_green_made(&green));
	gmod_green_stream_made((CUstream)(uintptr_t)ours, green.context);
	gmod_green_stream_made((CUstream)(uintptr_t)destroyed, green.context);
	gmod_green_stream_made((CUstream)(uintptr_t)theirs, context_at(home));
	gmod_green_stream_gone((CUstream)(uintptr_t)destroyed);
	gmod_prove_context_wait(handle, began);
	assert_true(gmod_proven(handle, ours, launched));
	assert_true(gmod_proven(handle, gmod_stream_key(0, GMOD_LEGACY, handle), launched));
	assert_false(gmod_proven(handle, destroyed, launched));
	assert_false(gmod_proven(handle, theirs, launched));
	assert_false(gmod_proven(home, theirs, launched));
	gmod_green_gone(green.context);
}

/* The next one that gets its handle has not made them. */
static void streams_go_with_it(void **state)
{
	uint64_t handle = new_handle(), home = new_handle(), stream = new_handle(), launched = later();
	struct gmod_green green = green_of(handle, home);

	(void)state;
	assert_true(gmod_green_made(&green));
	gmod_green_stream_made((CUstream)(uintptr_t)stream, green.context);
	gmod_green_gone(green.context);
	assert_true(gmod_green_made(&green));
	gmod_prove_context_wait(handle, later());
	assert_false(gmod_proven(handle, stream, launched));
	gmod_green_gone(green.context);
}

/* ---- threads ---- */

enum { MAKERS = 3, READERS = 3, ROUNDS = 200000 };
static atomic_bool stop;
static _Atomic uint64_t seen, wrong;

/* A green context's home and device follow from its handle. */
static uint64_t home_of(uint64_t handle)
{
	return handle * 3;
}

static void *make_and_end(void *first)
{
	uint64_t handle = *(const uint64_t *)first;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t h = handle + (uint64_t)(i % 8) * 0x10;
		struct gmod_green green = green_of(h, home_of(h));

		if (!gmod_green_made(&green))
			atomic_fetch_add(&wrong, 1);
		gmod_green_gone(green.context);
	}
	return NULL;
}

static void *look(void *first)
{
	uint64_t handle = *(const uint64_t *)first;
	struct gmod_green found;

	for (uint64_t i = 0; !atomic_load(&stop); i++) {
		uint64_t h = handle + i % 8 * 0x10;

		if (!gmod_green_find(context_at(h), &found))
			continue;
		atomic_fetch_add(&seen, 1);
		if (found.context != context_at(h) || found.home != context_at(home_of(h)) ||
		    found.device != (int)(h >> 4 & 7))
			atomic_fetch_add(&wrong, 1);
	}
	return NULL;
}

static void found_whole_by_any_thread(void **state)
{
	pthread_t makers[MAKERS], readers[READERS];
	uint64_t first[MAKERS];

	(void)state;
	for (int i = 0; i < MAKERS; i++) {
		first[i] = new_handle();
		assert_int_equal(pthread_create(&makers[i], NULL, make_and_end, &first[i]), 0);
	}
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, look, &first[i]), 0);
	for (int i = 0; i < MAKERS; i++)
		pthread_join(makers[i], NULL);
	atomic_store(&stop, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	assert_int_equal(wrong, 0);
	assert_true(seen > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(found_while_there),
	    cmocka_unit_test(no_more_than_there_is_room),
	    cmocka_unit_test(a_wait_in_the_primary_proves_all),
	    cmocka_unit_test(a_wait_in_a_green_one_proves_its_streams),
	    cmocka_unit_test(streams_go_with_it),
	    cmocka_unit_test(found_whole_by_any_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
