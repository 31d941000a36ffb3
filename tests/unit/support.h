/* What several unit tests need: numbers that look random and are not, checks that cost nothing, a forked child. */
#pragma once

#include "tests/unit/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* So many turns a test of threads takes with GMOD_TEST_TURNS=all; else half of them under a sanitizer, or a quarter. */
static inline int turns(int all)
{
	const char *asked = getenv("GMOD_TEST_TURNS");

	return asked && !strcmp(asked, "all") ? all : SANITIZED ? all / 2 : all / 4;
}

/* Set in a forked child, where a failure must not go on with the parent's other tests. */
static bool in_a_child __attribute__((unused));

/* assert_true() that may stand in a loop of millions, says with which values it failed, and works in a child. */
#define CHECK(condition, ...) \
	do { \
		if (!(condition)) { \
			print_error("%s:%d: %s: ", __FILE__, __LINE__, #condition); \
			print_error(__VA_ARGS__); \
			print_error("\n"); \
			if (in_a_child) \
				_exit(1); \
			fail(); \
		} \
	} while (0)

/* xorshift64*: the same numbers in every run. *state must not be 0. */
static inline uint64_t random64(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

/* Evenly enough in [0, limit). */
static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return (random64(state) >> 16) % limit;
}

/* ... and without more words. */
#define NEED(condition) CHECK(condition, "it does not hold")

/* Run `body` in a forked child, which must end with `status`: 0 if it returns. TEST_IN_CHILD says what it may use. */
static inline void in_child(void (*body)(void), int status)
{
	pid_t pid;
	int got = 0;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		in_a_child = true;
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &got, 0), pid);
	CHECK(WIFEXITED(got) && WEXITSTATUS(got) == status, "the child ended with wait status %#x", (unsigned)got);
}

static inline void run_in_child(void **state)
{
	in_child(((const struct listed_test *)*state)->body, 0);
}

static inline bool is_mapping(const char *line)
{
	return strchr("0123456789abcdef", line[0]) && strchr(line, '-');
}

/* The "VmFlags:" line of the mapping around an address. */
static inline void vm_flags(const void *address, char *out, size_t cap)
{
	uint64_t wanted = (uint64_t)(uintptr_t)address;
	FILE *f = fopen("/proc/self/smaps", "re");
	bool inside = false;
	char line[4096];

	assert_non_null(f);
	out[0] = '\0';
	while (fgets(line, sizeof(line), f)) {
		unsigned long from = 0, to = 0;

		if (is_mapping(line) && sscanf(line, "%lx-%lx ", &from, &to) == 2) // NOLINT: the kernel's own text
			inside = wanted >= from && wanted < to;
		else if (inside && !strncmp(line, "VmFlags:", 8))
			snprintf(out, cap, "%.*s", (int)cap - 1, line);
	}
	fclose(f);
	assert_true(out[0]);
}
