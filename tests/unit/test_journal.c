/* The journal of launches: how long images are, which launches are told, and how often. */
#include <elf.h>
#include <stdlib.h>

#include "monitor/launches/journal.h"
#include "monitor/launches/journal_image.h"
#include "monitor/launches/names.h"
#include "tests/unit/support.h"

/* ---- images ---- */

static const char *memory;
static size_t memory_size;

/* As if nothing were mapped beyond. */
static ssize_t read_memory(uintptr_t from, void *to, size_t n)
{
	size_t at = from - (uintptr_t)memory;

	if (from < (uintptr_t)memory || at >= memory_size)
		return -1;
	n = n < memory_size - at ? n : memory_size - at;
	memcpy(to, (const char *)from, n);
	return (ssize_t)n;
}

static void check_image(const void *bytes, size_t n, size_t start, uint64_t size, const char *kind)
{
	struct gmod_image_extent e;

	memory = bytes;
	memory_size = n;
	e = gmod_image_measure((uintptr_t)bytes, read_memory);
	CHECK(e.start == (uintptr_t)bytes + start && e.size == size && !strcmp(e.kind, kind),
	      "%llu bytes, %s, not %llu, %s", (unsigned long long)e.size, e.kind, (unsigned long long)size, kind);
}

TEST(ptx_ends_with_a_zero)
{
	char text[10000];

	check_image(".version 8.0", 13, 0, 12, "ptx");
	check_image("", 1, 0, 0, "unknown");
	check_image("hello, this is no PTX", 22, 0, 21, "unknown");
	memset(text, ' ', sizeof(text));
	memcpy(text + 5000, ".version 8.0", 12);
	check_image(text, sizeof(text), 0, 0, "ptx");
	text[9998] = 0;
	check_image(text, sizeof(text), 0, 9998, "ptx");
}

TEST(a_cubin_ends_behind_its_tables)
{
	Elf64_Ehdr e = {.e_ident = ELFMAG, .e_shoff = 5000, .e_shnum = 10, .e_shentsize = 64};

	check_image(&e, sizeof(e), 0, 5640, "cubin");
	e.e_phoff = 5640;
	e.e_phnum = 3;
	e.e_phentsize = 56;
	check_image(&e, sizeof(e), 0, 5808, "cubin");
	check_image(&e, 20, 0, 0, "cubin");
	e.e_shoff = UINT64_MAX;
	check_image(&e, sizeof(e), 0, 0, "cubin");
	e.e_shoff = GMOD_IMAGE_MAX;
	check_image(&e, sizeof(e), 0, 0, "cubin");
}

TEST(a_fatbin_says_how_long_it_is)
{
	struct {
		uint32_t magic, version;
		uint64_t data;
		uint32_t image;
		uint16_t one, head;
		uint64_t size;
	} wrapped = {.magic = 0x466243b1, .image = 0xba55ed50, .head = 16, .size = 1000};

	wrapped.data = (uintptr_t)&wrapped.image;
	check_image(&wrapped, sizeof(wrapped), 16, 1016, "fatbin");
	wrapped.size = UINT64_MAX;
	check_image(&wrapped, sizeof(wrapped), 16, 0, "fatbin");
	wrapped.data = (uintptr_t)&wrapped;
	memory = (const char *)&wrapped;
	memory_size = sizeof(wrapped);
	CHECK(gmod_image_measure((uintptr_t)&wrapped, read_memory).size < 8, "a wrapper of itself is long");
	wrapped.data = 16;
	CHECK(!gmod_image_measure((uintptr_t)&wrapped, read_memory).size, "nothing has a size");
}

/* ---- launches ---- */

static uint64_t position;

static int32_t device_of(uint64_t context, int32_t *capability)
{
	*capability = 90;
	return (int32_t)context;
}

static void begin(void)
{
	NEED(gmod_journal_init(device_of));
}

/* How many launches have been told since the last time; *last: the latest one. */
static int told(const struct gmod_journal_launch **last)
{
	int n = 0;

	for (const struct gmod_journal_piece *p; (p = gmod_journal_next(&position));)
		if (p->kind == GMOD_JOURNAL_LAUNCH && ++n && last)
			*last = &p->launch;
	return n;
}

static const struct gmod_signature *signature(bool is_cut)
{
	static char room[sizeof(struct gmod_signature) + 2 * sizeof(struct gmod_parameter)];
	struct gmod_signature *s = (void *)room;

	*s = (struct gmod_signature){.count = 2, .is_cut = is_cut, .bytes = 16};
	s->at[0] = (struct gmod_parameter){0, 0, 4};
	s->at[1] = (struct gmod_parameter){1, 8, 8};
	return gmod_signature_keep(s);
}

static void launch(uint64_t function, int32_t small, int64_t large, unsigned blocks)
{
	const struct gmod_journal_shape shape = {.grid = {blocks, 1, 1}, .block = {32, 1, 1}};

	gmod_journal_launch(NULL, function, 3, &shape, signature(false), (void *[]){&small, &large});
}

TEST_IN_CHILD(what_is_the_same_is_told_once)
{
	const struct gmod_journal_launch *l = NULL;

	begin();
	gmod_name_learn(0x1000, "one", 0);
	for (int i = 0; i < 5; i++)
		launch(0x1000, 7, -1, 1);
	CHECK(told(&l) == 1 && l && l->words[0] == 7 && l->words[1] == UINT64_MAX && !strcmp(l->name, "one"),
	      "not once");
	CHECK(l && l->device == 3 && l->capability == 90 && !l->image && !l->pointers, "not as it was");
	launch(0x1000, 7, -1, 2);
	launch(0x1000, 7, -1, 1);
	launch(0x1000, 8, -1, 1);
	launch(0x1000, 7, -1, 2);
	CHECK(told(NULL) == 2, "not two more");
}

TEST_IN_CHILD(a_handle_may_be_another_functions)
{
	const struct gmod_journal_launch *first = NULL, *second = NULL;

	begin();
	gmod_name_learn(0x2000, "one", 0);
	launch(0x2000, 1, 1, 1);
	CHECK(told(&first) == 1, "the first is not told");
	gmod_name_learn(0x2000, "other", 0);
	atomic_fetch_add(&gmod_signature_changes, 1);
	launch(0x2000, 1, 1, 1);
	CHECK(told(&second) == 1 && first && second->function > first->function && !strcmp(second->name, "other"),
	      "it is taken for the first");
}

TEST_IN_CHILD(after_64_extremes_are_told)
{
	const struct gmod_journal_launch *l = NULL;

	begin();
	for (int i = 0; i < 64; i++)
		launch(0x3000, i, 100, 1);
	CHECK(told(NULL) == 64, "not 64");
	for (unsigned i = 2; i < 100; i++)
		launch(0x3000, 5, 100, i);
	CHECK(told(NULL) == 0, "more than 64");
	launch(0x3000, 64, 100, 1);
	launch(0x3000, -1, 100, 1);
	launch(0x3000, 5, INT64_MIN, 1);
	launch(0x3000, 5, 50, 1);
	CHECK(told(NULL) == 3, "the extremes are not told");
	for (int i = 0; i < 100; i++)
		launch(0x3000, 65 + i, 0, 1);
	CHECK(told(NULL) == 61, "not 64 extremes");
	gmod_journal_rest();
	CHECK(told(&l) == 1 && l && l->words[0] == 164, "the last extreme is not told at the end");
}

TEST_IN_CHILD(many_launches_are_counted)
{
	struct gmod_journal_counts c;

	begin();
	for (int i = 0; i < 1000 + 64 * 10; i++)
		launch(0x4000, 1, 1, 1);
	gmod_journal_launch(NULL, 0x4000, 3, &(struct gmod_journal_shape){.is_graph = 0}, NULL, NULL);
	gmod_journal_launch(NULL, 0x4001, 3, &(struct gmod_journal_shape){.is_graph = 0}, signature(true),
			    (void *[]){NULL, NULL});
	c = gmod_journal_rest();
	CHECK(c.launches == 1642 && c.looked_at == 1010, "%llu, %llu looked at", (unsigned long long)(c.launches),
	      (unsigned long long)(c.looked_at));
	CHECK(told(NULL) == 1, "not told once");
}

static void fill_queue(void)
{
	static char room[sizeof(struct gmod_signature) + sizeof(struct gmod_parameter)], parameter[4096];
	struct gmod_signature *s = (void *)room;

	*s = (struct gmod_signature){.count = 1, .bytes = sizeof(parameter)};
	s->at[0] = (struct gmod_parameter){0, 0, sizeof(parameter)};
	for (uint64_t function = 0; function < 600; function++)
		for (unsigned i = 0; i < 64; i++)
			gmod_journal_launch(NULL, 0x10000 + function, 3, &(struct gmod_journal_shape){.shared = i},
					    gmod_signature_keep(s), (void *[]){parameter});
}

/* ---- modules ---- */

TEST_IN_CHILD(images_are_copied)
{
	char *text = strdup(".version 8.0");
	const struct gmod_journal_piece *p;

	begin();
	told(NULL);
	gmod_journal_loaded(0x77, text, NULL);
	free(text);
	p = gmod_journal_next(&position);
	CHECK(p && p->kind == GMOD_JOURNAL_IMAGE && p->image.size == 12 && !memcmp(p->image.bytes, ".version", 8) &&
		  !strcmp(p->image.kind, "ptx"),
	      "not copied");
	gmod_journal_loaded(0x78, NULL, "/no/such/file");
	gmod_journal_loaded(0x79, (void *)16, NULL);
	CHECK(!gmod_journal_next(&position), "what is not there is told");
	gmod_name_learn(0x6000, "of a module", 0x77);
	launch(0x6000, 1, 1, 1);
	p = gmod_journal_next(&position);
	CHECK(p && p->kind == GMOD_JOURNAL_LAUNCH && p->launch.image, "the image is not known");
}

TEST_IN_CHILD(what_finds_no_room_is_dropped)
{
	begin();
	told(NULL);
	fill_queue();
	CHECK(gmod_journal_put_so_far() <= GMOD_JOURNAL_BYTES, "beyond the end");
	CHECK(told(NULL) > 25000 && gmod_journal_rest().dropped > 1000, "none is dropped");
	CHECK(position == gmod_journal_put_so_far(), "not all is read");
}
