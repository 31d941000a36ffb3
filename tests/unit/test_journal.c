/* The journal of launches: how long images are, which launches are told, and how often. */
#include <elf.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/hash.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/file.h"
#include "lib/base/map.h"
#include "lib/base/phase.h"
#include "monitor/launches/journal.h"
#include "monitor/launches/names.h"
#include "tests/unit/support.h"

static char folder[] = "/tmp/test_journal.XXXXXX";
static char *text; /* of the journal, once it has ended */

static void add_stack(struct gmod_text *t, const struct gmod_stack *stack)
{
	(void)t, (void)stack;
}

static void begin(void)
{
	char options[64];

	NEED(mkdtemp(folder));
	snprintf(options, sizeof(options), "journal=%s", folder);
	NEED(!setenv("GMOD_OPTIONS", options, 1));
	gmod_facts_init();
	gmod_journal_start(add_stack);
	NEED(atomic_load(&gmod_hot.journal) == 1);
}

/* The first file of that name, as a pattern, with a zero behind it; NULL: there is none. */
static char *read_file(const char *pattern, size_t *size)
{
	char path[128], *bytes;
	glob_t found;
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", folder, pattern);
	if (glob(path, 0, NULL, &found) || stat(found.gl_pathv[0], &st))
		return NULL;
	*size = (size_t)st.st_size;
	bytes = calloc(1, *size + 1);
	NEED(gmod_read_file(found.gl_pathv[0], bytes, *size) == (ssize_t)*size);
	globfree(&found);
	return bytes;
}

static void end(void)
{
	char command[64];
	size_t size;

	gmod_journal_end(GMOD_SECONDS(60));
	text = read_file("*.journal", &size);
	NEED(text && strstr(text, "{\"end\":true"));
	snprintf(command, sizeof(command), "rm -r %s", folder);
	NEED(!system(command));
}

static int times(const char *what)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void check(const char *what, int wanted)
{
	CHECK(times(what) == wanted, "%d times, not %d: %s", times(what), wanted, what);
}

/* ---- images ---- */

/* The bytes that are kept of an image are `size` from `start`; 0: none are. */
static void check_image(const void *bytes, size_t start, size_t size)
{
	char *kept;
	size_t n = 0;

	begin();
	gmod_journal_loaded(0x77, bytes, SIZE_MAX, NULL);
	gmod_journal_end(GMOD_SECONDS(10));
	kept = read_file("*.image", &n);
	CHECK(n == size && (!n || !memcmp(kept, (const char *)bytes + start, n)), "%zu bytes, not %zu", n, size);
	end();
	check("{\"image\":", size > 0);
}

/* Whole pages, with nothing behind them. */
static char *room(void)
{
	char *p = gmod_map(16384);

	NEED(p && !munmap(p + 8192, 8192));
	return p;
}

TEST_IN_CHILD(text_ends_with_a_zero)
{
	char *p = room();

	memset(p, ' ', 8191);
	check_image(p, 0, 8191);
}

TEST_IN_CHILD(nothing_is_no_image)
{
	check_image("\0\0\0\0", 0, 0);
}

static void check_cubin(const Elf64_Ehdr *head, size_t size)
{
	char *p = room();

	memcpy(p, head, sizeof(*head));
	memcpy(p, ELFMAG, SELFMAG);
	check_image(p, 0, size);
}

TEST_IN_CHILD(a_cubin_ends_behind_its_sections)
{
	check_cubin(&(Elf64_Ehdr){.e_shoff = 5000, .e_shnum = 10, .e_shentsize = 64}, 5640);
}

TEST_IN_CHILD(a_cubin_ends_behind_its_segments)
{
	check_cubin(
	    &(Elf64_Ehdr){
		.e_shoff = 5000, .e_shnum = 10, .e_shentsize = 64, .e_phoff = 5640, .e_phnum = 3, .e_phentsize = 56},
	    5808);
}

TEST_IN_CHILD(a_cubin_that_is_cut_is_not_kept)
{
	check_cubin(&(Elf64_Ehdr){.e_shoff = 8000, .e_shnum = 10, .e_shentsize = 64}, 0);
}

TEST_IN_CHILD(what_is_too_large_is_not_kept)
{
	check_cubin(&(Elf64_Ehdr){.e_shoff = UINT64_MAX - 1000}, 0);
}

static void check_fatbin(uint64_t size, size_t whole)
{
	char *p = room();
	uint64_t words[] = {0x1466243b1, (uintptr_t)p + 16, UINT64_C(0x00100001ba55ed50), size};

	memcpy(p, words, sizeof(words));
	check_image(p, 16, whole);
}

TEST_IN_CHILD(a_fatbin_says_how_long_it_is)
{
	check_fatbin(1000, 1016);
}

TEST_IN_CHILD(a_fatbin_may_say_anything)
{
	check_fatbin(UINT64_MAX / 2, 0);
}

TEST_IN_CHILD(a_wrapper_may_lead_nowhere)
{
	check_image((uint64_t[]){0x1466243b1, 16}, 0, 0);
}

/* ---- launches ---- */

static const struct gmod_signature *signature(bool is_cut)
{
	static char at[sizeof(struct gmod_signature) + 2 * sizeof(struct gmod_parameter)];
	struct gmod_signature *s = (void *)at;

	*s = (struct gmod_signature){.count = 2, .is_cut = is_cut, .bytes = 16};
	s->at[0] = (struct gmod_parameter){0, 0, 4};
	s->at[1] = (struct gmod_parameter){1, 8, 8};
	return gmod_signature_keep(s);
}

/* What lies between the parameters counts for nothing. */
static void launch(uint64_t function, int32_t small, int64_t large, unsigned blocks)
{
	static int32_t anything;
	const struct gmod_journal_shape shape = {{blocks, 1, 1}, {32, 1, 1}, .capability = 90};
	int32_t arguments[4] = {small, anything++};

	memcpy(&arguments[2], &large, 8);
	gmod_journal_launch(function, &shape, signature(false), arguments);
}

TEST_IN_CHILD(what_is_the_same_is_told_once)
{
	begin();
	gmod_name_learn(0x1000, "one", 0);
	for (int i = 0; i < 5; i++)
		launch(0x1000, 7, -1, 1);
	launch(0x1000, 7, -1, 2);
	launch(0x1000, 7, -1, 1);
	launch(0x1000, 8, -1, 1);
	launch(0x1000, 7, -1, 2);
	end();
	check("\"image\":null,\"name\":\"one\",\"parameters\":[[0,4],[8,8]]}", 1);
	check("{\"launch\":", 3);
	check("\"grid\":[1,1,1],\"block\":[32,1,1],\"cluster\":[0,0,0],\"shared\":0,\"capability\":90,\"graph\":false,"
	      "\"words\":[\"0700000000000000\",\"ffffffffffffffff\"]}",
	      1);
	check("\"launches\":9,\"looked_at\":9}", 1);
}

TEST_IN_CHILD(a_handle_may_be_another_functions)
{
	begin();
	gmod_name_learn(0x2000, "one", 0);
	launch(0x2000, 1, 1, 1);
	launch(0x2000, 1, 1, 1);
	gmod_name_learn(0x2000, "other", 0);
	atomic_fetch_add(&gmod_signature_changes, 1);
	launch(0x2000, 1, 1, 1);
	end();
	check("\"name\":\"one\"", 1);
	check("\"name\":\"other\"", 1);
	check("{\"launch\":", 2);
	check("\"launches\":2,\"looked_at\":2}", 1);
	check("\"launches\":1,\"looked_at\":1}", 1);
}

TEST_IN_CHILD(a_change_of_others_is_none)
{
	begin();
	launch(0x2000, 1, 1, 1);
	atomic_fetch_add(&gmod_signature_changes, 1);
	launch(0x2000, 1, 1, 1);
	end();
	check("{\"function\":", 1);
	check("{\"launch\":", 1);
}

TEST_IN_CHILD(after_64_extremes_are_told)
{
	begin();
	for (int i = 0; i < 64; i++)
		launch(0x3000, 10 + i, 100, 1);
	for (unsigned i = 2; i < 100; i++)
		launch(0x3000, 15, 100, i);
	launch(0x3000, 74, 100, 1);
	launch(0x3000, 9, 100, 1);
	launch(0x3000, 15, INT64_MIN, 1);
	launch(0x3000, 15, 100, 1000);
	end();
	check("{\"launch\":", 67);
	check("\"4a00000000000000\"", 1);
	check("\"0900000000000000\"", 1);
	check("\"0000000000000080\"", 1);
}

TEST_IN_CHILD(no_more_than_128_are_told)
{
	begin();
	for (int i = 0; i < 500; i++)
		launch(0x3000, i, 100, 1);
	end();
	check("{\"launch\":", 128);
}

TEST_IN_CHILD(many_launches_are_counted)
{
	const struct gmod_journal_shape shape = {.capability = 90};

	begin();
	for (int i = 0; i < 1000 + 64 * 10; i++)
		launch(0x4000, 1, 1, 1);
	gmod_journal_launch(0x4000, &shape, NULL, NULL);
	gmod_journal_launch(0x4001, &shape, signature(true), "0123456789abcdef");
	gmod_journal_launch(0x4002, &shape, NULL, NULL);
	end();
	check("\"launches\":1641,\"looked_at\":1010}", 1);
	check("\"launches\":1,\"looked_at\":0}", 2);
	check("\"parameters\":null", 1);
	check("{\"launch\":", 1);
}

TEST_IN_CHILD(functions_without_a_place_are_counted)
{
	begin();
	for (uint64_t i = 1; i <= 5000; i++)
		launch(i, 1, 1, 1);
	end();
	check("\"end\":true,\"launches\":0", 0);
	CHECK(times("{\"launch\":") > 1900 && times("{\"launch\":") == times("{\"count\":"), "%d launches, %d counts",
	      times("{\"launch\":"), times("{\"count\":"));
}

TEST_IN_CHILD(what_finds_no_room_is_dropped)
{
	static char at[sizeof(struct gmod_signature) + sizeof(struct gmod_parameter)], parameter[4096];
	struct gmod_signature *s = (void *)at;

	if (SANITIZED)
		return; /* it would take two minutes */
	begin();
	*s = (struct gmod_signature){.count = 1, .bytes = sizeof(parameter)};
	s->at[0] = (struct gmod_parameter){0, 0, sizeof(parameter)};
	for (unsigned i = 0; i < 200 * 64; i++)
		gmod_journal_launch(0x10000 + i / 64, &(struct gmod_journal_shape){.shared = i}, gmod_signature_keep(s),
				    parameter);
	end();
	check("\"dropped\":0}", 0);
	CHECK(times("{\"launch\":") > 5000, "%d are told", times("{\"launch\":"));
}

/* ---- modules ---- */

TEST_IN_CHILD(a_function_has_its_modules_image)
{
	char *ptx = strdup(".version 8.0"), hash[64];

	begin();
	gmod_journal_loaded(0x77, ptx, SIZE_MAX, NULL);
	free(ptx);
	gmod_journal_loaded(0, ".version 8.1", SIZE_MAX, NULL);
	gmod_journal_loaded(0, ".version 8.1, of which no more is the image's", 12, NULL);
	gmod_journal_loaded(0x78, NULL, SIZE_MAX, "/no/such/file");
	gmod_name_learn(0x6000, "of it", 0x77);
	gmod_name_learn(0x6001, "of none", 0x78);
	gmod_name_learn(0x6002, "of nobody", 0);
	for (uint64_t i = 0; i < 3; i++)
		launch(0x6000 + i, 1, 1, 1);
	end();
	check("\"linked\":false}", 1);
	check("\"linked\":true}", 2);
	snprintf(hash, sizeof(hash), "\"hash\":\"%016llx\"",
		 (unsigned long long)gmod_hash_bytes(GMOD_HASH_START, ".version 8.1", 12));
	check(hash, 2);
	check("\"image\":null,\"name\":\"of no", 2);
	check("\"image\":null,\"name\":\"of it\"", 0);
}
