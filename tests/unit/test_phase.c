/* The page that holds the phase and the key: wiped in a forked child, out of core files, fresh each time. */
#include "lib/base/phase.h"

#include "lib/base/clock.h"
#include "lib/base/peek.h"
#include "tests/unit/support.h"

TEST(nothing_is_on_before_it_is_armed)
{
	assert_int_equal(gmod_phase(), GMOD_OFF);
	assert_false(gmod_on());
	assert_false(gmod_phase_is_ours());
	/* Nor may it be, whoever asks for it. */
	gmod_phase_set(GMOD_ON);
	assert_int_equal(gmod_phase(), GMOD_OFF);
	gmod_phase_set(GMOD_WINDING_DOWN);
	assert_int_equal(gmod_phase(), GMOD_OFF);
	assert_int_equal(gmod_hot.key[0], 0);
	assert_int_equal(gmod_hot.key[1], 0);
}

static void check_none_of_ours(void)
{
	NEED(gmod_phase() == GMOD_OFF && !gmod_on() && !gmod_phase_is_ours());
}

TEST_IN_CHILD(a_child_of_a_process_without_gmod_is_none_of_ours)
{
	check_none_of_ours();
}

TEST(arming_gives_a_page_and_a_key)
{
	assert_true(gmod_phase_arm());
	assert_true(gmod_hot.key[0] && gmod_hot.key[1]);
	assert_true(gmod_hot.key[0] != gmod_hot.key[1]);
	/* Armed is not on. */
	assert_int_equal(gmod_phase(), GMOD_OFF);
}

TEST(phases_follow_each_other)
{
	uint64_t key[2] = {gmod_hot.key[0], gmod_hot.key[1]};

	gmod_phase_set(GMOD_ON);
	assert_true(gmod_on());
	assert_int_equal(gmod_phase(), GMOD_ON);
	assert_true(gmod_phase_is_ours());
	gmod_phase_set(GMOD_WINDING_DOWN);
	assert_false(gmod_on());
	assert_int_equal(gmod_phase(), GMOD_WINDING_DOWN);
	assert_true(gmod_phase_is_ours());
	gmod_phase_set(GMOD_ON);
	assert_true(gmod_on());
	assert_memory_equal(key, gmod_hot.key, sizeof(key));
}

/* Of its own memory, not of its parent's. */
static void check_peek(void)
{
	pid_t own = getpid(), seen = 0;

	NEED(gmod_peek((uintptr_t)&own, &seen, sizeof(seen)) == sizeof(seen));
	NEED(seen == own);
}

static void check_child_and_grandchild(void)
{
	const uint8_t *bytes = (const uint8_t *)&gmod_hot;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	check_none_of_ours();
	for (size_t i = 0; i < size; i++)
		NEED(bytes[i] == 0);
	check_peek();
	in_child(check_none_of_ours, 0);
}

TEST(a_forked_child_is_off_and_has_no_key)
{
	uint64_t key[2] = {gmod_hot.key[0], gmod_hot.key[1]};

	assert_true(gmod_on());
	check_peek();
	in_child(check_child_and_grandchild, 0);
	/* ... and takes nothing away from its parent. */
	assert_true(gmod_on());
	assert_memory_equal(key, gmod_hot.key, sizeof(key));
}

TEST(the_key_is_kept_out_of_core_files)
{
	char flags[256], stack[256];

	vm_flags(&gmod_hot, flags, sizeof(flags));
	vm_flags(stack, stack, sizeof(stack));
	CHECK(strstr(flags, " dd"), "%s", flags); /* VM_DONTDUMP */
	CHECK(strstr(flags, " wf"), "%s", flags); /* VM_WIPEONFORK */
	/* The kernel does show flags, and does not show these everywhere. */
	CHECK(!strstr(stack, " wf"), "%s", stack);
}

/* All that a core file would hold, but for the stack, where these tests leave copies, is read: no key is in it. */
static unsigned keys_in_mapping(uint64_t from, uint64_t to, const uint64_t key[2], const uint64_t *own)
{
	unsigned found = 0;

	for (uint64_t at = from; at + 8 <= to; at += 8) {
		const uint64_t *word = (const uint64_t *)(uintptr_t)at;

		if (word != own && word != own + 1 && (*word == key[0] || *word == key[1]))
			found++;
	}
	return found;
}

static void search_for_the_key(void)
{
	uint64_t from[512], to[512];
	unsigned count = 0, found = 0;
	const uint64_t *own = gmod_hot.key;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4096];

	NEED(f);
	while (fgets(line, sizeof(line), f) && count < 512)
		if (strstr(line, " rw-p ") && !strstr(line, "[stack") &&
		    sscanf(line, "%lx-%lx ", &from[count], &to[count]) == 2) // NOLINT: the kernel's own text
			count++;
	fclose(f);
	for (unsigned i = 0; i < count; i++)
		found += keys_in_mapping(from[i], to[i], own, own);
	NEED(count > 3 && found == 0);
}

TEST(the_key_is_nowhere_else_in_memory)
{
#if SANITIZED
	skip(); /* their shadow memory is too large to read */
#endif
	search_for_the_key();
}

TEST(every_arming_has_a_key_of_its_own)
{
	uint64_t keys[16][2];

	for (int i = 0; i < 16; i++) {
		assert_true(gmod_phase_arm());
		memcpy(keys[i], gmod_hot.key, sizeof(keys[i]));
		for (int k = 0; k < i; k++)
			assert_true(keys[i][0] != keys[k][0] && keys[i][1] != keys[k][1] && keys[i][0] != keys[k][1]);
	}
}

/* ---- work that the end waits for ---- */

static _Atomic bool at_work, has_begun;

/* Cancels itself while it is busy, to be noticed where it looks, or with a type at once. */
static void *be_busy(void *type)
{
	struct gmod_busy busy;

	if (type)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	busy = gmod_busy_begin();
	pthread_cancel(pthread_self());
	at_work = true;
	pthread_testcancel();
	at_work = false;
	gmod_busy_end(busy);
	pthread_testcancel();
	return type;
}

TEST(a_cancelled_thread_ends_its_work_first)
{
	uint64_t began = gmod_monotonic_ns();

#if SANITIZED
	skip(); /* they keep no account of stacks that are left so */
#endif
	for (int i = 0; i < 20; i++) {
		assert_ptr_equal(in_a_thread(be_busy, i % 2 ? &began : NULL), PTHREAD_CANCELED);
		assert_false(at_work);
	}
	gmod_busy_wait(5000);
	assert_true(gmod_monotonic_ns() - began < 4000000000);
}

static void *work_for_a_while(void *unused)
{
	struct gmod_busy busy = gmod_busy_begin();

	at_work = true;
	has_begun = true;
	usleep(50000);
	at_work = false;
	gmod_busy_end(busy);
	return unused;
}

TEST(the_end_waits_for_work)
{
	pthread_t thread = begin_thread(work_for_a_while, NULL);

	while (!has_begun)
		sched_yield();
	gmod_busy_wait(5000);
	assert_false(at_work);
	end_thread(thread);
}

TEST(an_ordinary_process_is_not_secure)
{
	assert_false(gmod_secure());
}
