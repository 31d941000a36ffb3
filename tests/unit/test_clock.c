/* By which clock launches are put in order: the processors' own only where the kernel itself goes by it. */
#include "lib/base/clock.h"

#include "tests/unit/support.h"

static void init_from(const char *text)
{
	char path[] = "/tmp/gmod-clock-XXXXXX";
	int fd = mkstemp(path);

	NEED(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
	gmod_clock_init(path);
	NEED(!unlink(path));
}

static bool is_the_kernels(void)
{
	uint64_t before = gmod_monotonic_ns(), ticks = gmod_ticks();

	return before <= ticks && ticks <= gmod_monotonic_ns();
}

static bool is_the_processors(void)
{
	uint64_t before = __rdtsc(), ticks = gmod_ticks();

	return before <= ticks && ticks <= __rdtsc();
}

TEST(before_it_is_asked_for_the_time_is_the_kernels)
{
	assert_true(is_the_kernels());
}

TEST(the_counter_is_trusted_where_the_kernel_trusts_it)
{
	init_from("tsc\n");
	assert_true(is_the_processors());
}

TEST(elsewhere_the_time_is_the_kernels)
{
	static const char *const sources[] = {
	    "hpet\n", "kvm-clock\n", "tsc-early\n", "tscx\n", "hyperv_clocksource_tsc_page\n", ""};

	for (unsigned i = 0; i < SIZE_OF(sources); i++) {
		init_from("tsc\n");
		init_from(sources[i]);
		CHECK(is_the_kernels(), "%s", sources[i]);
	}
	init_from("tsc\n");
	gmod_clock_init("/no/such/file");
	assert_true(is_the_kernels());
}
