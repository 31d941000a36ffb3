/* Python's frames, of an interpreter that is made up here, and lines by tables of a real one. */
#include "lib/base/python.h"
#include "lib/base/facts.h"
#include "tests/unit/json_reader.h"
#include "tests/unit/reporting.h"

/* ---- tables of lines ---- */

/* For each code object of some modules: how long its table is, its first line, the table; then from, to, line. */
static const char *const print_tables =
    "python3 -c '\nimport argparse, ast, sys, textwrap, types, typing, decimal\n"
    "def walk(code):\n"
    "    print(\"table\", len(code.co_linetable), code.co_firstlineno, code.co_linetable.hex())\n"
    "    for begin, end, line in code.co_lines():\n"
    "        if line:\n"
    "            print(\"line\", begin, end, line)\n"
    "    for each in code.co_consts:\n"
    "        isinstance(each, types.CodeType) and walk(each)\n"
    "if sys.version_info >= (3, 11):\n"
    "    for module in argparse, ast, textwrap, typing:\n"
    "        walk(compile(open(module.__file__).read(), module.__file__, \"exec\"))\n"
    "    walk(compile(\"\\n\" * 70000 + \"a = [\\n\" + \"b(),\\n\" * 3000 + \"]\", \"long\", \"exec\"))'";

TEST(lines_are_the_interpreters)
{
	static char row[1 << 20];
	static uint8_t table[1 << 19];
	unsigned n = 0, first = 0, from, to, line, at = 0, byte, looked_up = 0;
	FILE *f = popen(print_tables, "r");

	assert_non_null(f);
	while (fgets(row, sizeof(row), f)) {
		if (sscanf(row, "table %u %u %n", &n, &first, &at) == 2) {
			assert_true(n < sizeof(table));
			for (unsigned i = 0; i < n && sscanf(row + at + 2 * i, "%2x", &byte) == 1; i++)
				table[i] = (uint8_t)byte;
			table[n] = 0;
		} else if (sscanf(row, "line %u %u %u", &from, &to, &line) == 3) {
			assert_int_equal(gmod_python_line(table, n, first, from), line);
			assert_int_equal(gmod_python_line(table, n, first, to - 2), line);
			looked_up++;
		}
	}
	pclose(f);
	if (!looked_up)
		skip();
	assert_true(looked_up > 10000);
}

TEST(a_table_may_hold_anything)
{
	uint32_t random = 1;

	for (int round = 0; round < 20000; round++) {
		size_t n = random % 50;
		uint8_t *table = calloc(1, n + 1);

		for (size_t i = 0; i < n; i++)
			table[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
		gmod_python_line(table, n, 10, random % 300);
		free(table);
	}
}

/* ---- an interpreter ---- */

enum { FRAMES = 6, PREVIOUS = 0, CODE = 1, INSTRUCTION = 2, OWNER = 3 }; /* words of a frame */
enum {
	REFERENCES = 0,
	TYPE = 1,
	COUNT = 2,
	FILE_NAME = 3,
	FUNCTION = 4,
	LINES = 5, /* of a code object */
	FIRST_LINE = 6,
	VERSION = 11,
	START = 16
};
enum { NEXT = 0, INTERPRETER = 1, THREAD = 2, CURRENT = 3 };

static const char code_type, other_type;
static uint64_t runtime[128], interpreter[2], older[2], thread_state[32], frame[FRAMES][16], code[FRAMES][64];
static uint64_t file[FRAMES][128], function[FRAMES][128], lines[FRAMES][8];
static unsigned long version;
static void *this_state;

static void *get_state(void)
{
	return this_state;
}

static void *find(void *handle, const char *symbol)
{
	(void)handle;
	return !strcmp(symbol, "_PyRuntime")    ? (void *)runtime
	       : !strcmp(symbol, "Py_Version")  ? (void *)&version
	       : !strcmp(symbol, "PyCode_Type") ? (void *)(uintptr_t)&code_type
						: (void *)get_state;
}

/* A str of characters that take so many bytes each. */
static void make_text(uint64_t *str, const void *text, size_t length, unsigned width, bool ascii)
{
	str[2] = length;
	str[4] = width << 2 | 1 << 5 | (unsigned)ascii << 6;
	memcpy((char *)str + (ascii ? 40 : 56), text, length * width);
}

/* Of 3.13: the innermost frame is the first, and each is at another line of a file of its own. */
static void make(unsigned minor)
{
	const unsigned t = minor == 13 ? 19 : 22, f = minor == 13 ? 28 : 31, c = minor == 13 ? 34 : 39;

	memset(runtime, 0, sizeof(runtime));
	memcpy(runtime, "xdebugpy", 8);
	version = runtime[1] = 0x03000000 | minor << 16 | 0x4f0;
	runtime[4] = 800;
	runtime[8] = 8 * NEXT;
	runtime[t + 3] = 8 * INTERPRETER;
	runtime[t + 4] = 8 * CURRENT;
	runtime[t + 5] = 8 * THREAD;
	runtime[f + 1] = 8 * PREVIOUS;
	runtime[f + 2] = 8 * CODE;
	runtime[f + 3] = 8 * INSTRUCTION;
	runtime[f + 5] = 8 * OWNER + 1;
	runtime[c + 1] = 8 * FILE_NAME;
	runtime[c + 3] = 8 * FUNCTION;
	runtime[c + 4] = 8 * LINES;
	runtime[c + 5] = 8 * FIRST_LINE + 4;
	runtime[c + 9] = 8 * START;
	interpreter[NEXT] = 0;
	this_state = thread_state;
	thread_state[INTERPRETER] = (uintptr_t)interpreter;
	thread_state[THREAD] = (uintptr_t)pthread_self();
	thread_state[CURRENT] = (uintptr_t)frame[0];
	for (unsigned i = 0; i < FRAMES; i++) {
		char name[16];

		frame[i][PREVIOUS] = i + 1 < FRAMES ? (uintptr_t)frame[i + 1] : 0;
		frame[i][CODE] = (uintptr_t)code[i] | (minor == 14 ? 1 : 0);
		frame[i][INSTRUCTION] = (uintptr_t)code[i] + 8 * START + 4;
		frame[i][OWNER] = 0xff00ff;
		code[i][REFERENCES] = 1;
		code[i][TYPE] = (uintptr_t)&code_type;
		code[i][COUNT] = 8;
		code[i][FILE_NAME] = (uintptr_t)file[i];
		code[i][FUNCTION] = (uintptr_t)function[i];
		code[i][LINES] = (uintptr_t)lines[i];
		code[i][FIRST_LINE] = (uint64_t)(100 * (i + 1)) << 32;
		code[i][VERSION] = (uint64_t)(i + 1) << 32;
		make_text(file[i], name, (size_t)snprintf(name, sizeof(name), "file%u.py", i), 1, true);
		make_text(function[i], name, (size_t)snprintf(name, sizeof(name), "f%u", i), 1, true);
		lines[i][2] = 3;
		memcpy(&lines[i][4], (uint8_t[]){0xe9, 0x02, 0xe8},
		       3); /* two instructions a line further on, and others */
	}
	gmod_python_main_thread = pthread_self();
	gmod_python_init(find);
}

FIXTURE(fresh)
{
	make(13);
	return 0;
}

static uint64_t depth_of(uint32_t number)
{
	const struct gmod_python *p = gmod_python_stack(number);

	return p ? p->depth : 0;
}

static const struct gmod_python_frame *seen(unsigned i)
{
	const struct gmod_python *p = gmod_python_stack(gmod_python_here(GMOD_PYTHON_MAX));

	assert_non_null(p);
	assert_true(i < p->depth);
	return &p->frame[i];
}

static void see_all(void)
{
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(depth_of(gmod_python_here(GMOD_PYTHON_MAX)), FRAMES);
		assert_string_equal(seen(0)->function, "f0");
		assert_string_equal(seen(5)->function, "f5");
		assert_string_equal(seen(5)->file, "file5.py");
		assert_int_equal(seen(2)->line, 301);
	}
}

TEST_FIXTURE(frames_are_read, fresh, NULL)
{
	see_all();
	assert_int_equal(gmod_python_here(3), gmod_python_here(3));
	assert_int_equal(depth_of(gmod_python_here(3)), 3);
	assert_int_not_equal(gmod_python_here(3), gmod_python_here(4));
}

TEST(frames_of_3_14_are_read)
{
	make(14);
	see_all();
}

TEST(others_are_left_alone)
{
	for (unsigned minor = 12; minor < 16; minor++) {
		gmod_hot.python = 0;
		make(13);
		gmod_hot.python = 0;
		version = runtime[1] = 0x03000000 | minor << 16;
		runtime[2] = minor == 13; /* free-threaded */
		runtime[0] ^= minor == 14;
		gmod_python_init(find);
		assert_int_equal(gmod_hot.python != 0, minor == 12);
	}
}

TEST_FIXTURE(only_what_stands_still_is_read, fresh, NULL)
{
	see_all();
	this_state = NULL;
	assert_int_equal(gmod_python_here(4), 0);
	this_state = thread_state;
	thread_state[THREAD]++;
	assert_int_equal(gmod_python_here(4), 0);
	thread_state[THREAD]--;
	interpreter[NEXT] = (uintptr_t)older;
	assert_int_equal(gmod_python_here(4), 0);
	interpreter[NEXT] = 0;
	runtime[100] = (uintptr_t)older; /* somebody ends the interpreter */
	assert_int_equal(gmod_python_here(4), 0);
	runtime[100] = (uintptr_t)thread_state;
	assert_int_not_equal(gmod_python_here(4), 0);
	runtime[100] = 0;
	see_all();
}

TEST_FIXTURE(frames_that_are_none_are_left_out, fresh, NULL)
{
	see_all();
	frame[0][OWNER] = 0x0300;
	code[1][REFERENCES] = 0;
	code[2][TYPE] = (uintptr_t)&other_type;
	frame[3][INSTRUCTION] += 16; /* behind the last */
	frame[4][INSTRUCTION] = (uintptr_t)code[4] + 8 * START - 2;
	assert_int_equal(depth_of(gmod_python_here(GMOD_PYTHON_MAX)), 1);
	assert_string_equal(seen(0)->function, "f5");
	/* Each of them but the first, which stands for C, takes a place. */
	frame[5][PREVIOUS] = (uintptr_t)frame[5];
	assert_int_equal(depth_of(gmod_python_here(GMOD_PYTHON_MAX)), GMOD_PYTHON_MAX - 4);
}

TEST_FIXTURE(code_in_the_place_of_other_code_is_told, fresh, NULL)
{
	uint32_t before = gmod_python_here(1);

	assert_string_equal(seen(0)->function, "f0");
	code[0][VERSION] = (uint64_t)77 << 32;
	memcpy((char *)function[0] + 40, "g0", 2);
	assert_string_equal(seen(0)->function, "g0");
	assert_int_not_equal(gmod_python_here(1), before);
	assert_string_equal(gmod_python_stack(before)->frame[0].function, "f0");
}

/* Without a version what tells it is what it says. */
TEST_FIXTURE(code_without_a_version_is_told_by_its_lines, fresh, NULL)
{
	see_all();
	for (unsigned i = 0; i < FRAMES; i++)
		code[i][VERSION] = 0;
	assert_int_equal(seen(0)->line, 101);
	memcpy(&lines[0][4], (uint8_t[]){0xe9, 0x04, 0xe8}, 3);
	assert_int_equal(seen(0)->line, 102);
	code[0][FIRST_LINE] = (uint64_t)500 << 32;
	assert_int_equal(seen(0)->line, 502);
}

static void *look_with_a_bad_pointer(void *where)
{
	uint64_t *pointer = where, was = *pointer;
	uint32_t number;

	thread_state[THREAD] = (uintptr_t)pthread_self();
	*pointer = 0x7000deadbee8;
	number = gmod_python_here(GMOD_PYTHON_MAX);
	*pointer = was;
	return (void *)depth_of(number);
}

/* Of a thread that Python may end meanwhile, and until the first stack was as expected. */
TEST_FIXTURE(memory_that_is_gone_is_not_touched, fresh, NULL)
{
	uint64_t *const pointers[] = {
	    &thread_state[INTERPRETER], &thread_state[CURRENT], &frame[2][PREVIOUS], &frame[0][CODE],
	    &code[0][FILE_NAME],        &code[0][FUNCTION],     &code[0][LINES]};
	/* What is not a code object is left out; what is in front of one that cannot be read stays. */
	static const uint64_t left[] = {0, 0, 0, FRAMES - 1, 0, 0, 0};

	for (size_t i = 0; i < SIZE_OF(pointers); i++) {
		make(13);
		code[0][VERSION] = (uint64_t)(i + 1000) << 32;
		assert_int_equal((uintptr_t)look_with_a_bad_pointer(pointers[i]), left[i]);
		make(13);
		see_all();
		code[0][VERSION] = (uint64_t)(i + 2000) << 32;
		assert_int_equal((uintptr_t)in_a_thread(look_with_a_bad_pointer, pointers[i]), left[i]);
	}
}

static void *look_often(void *unused)
{
	uintptr_t found = 0;

	(void)unused;
	thread_state[THREAD] = (uintptr_t)pthread_self();
	for (int i = 0; i < 10000; i++)
		found += gmod_python_here(4) != 0;
	return (void *)found;
}

/* By system calls it takes long: a thread that does nothing else has to rest. */
TEST_FIXTURE(another_thread_looks_now_and_then, fresh, NULL)
{
	uintptr_t found;

	see_all();
	found = (uintptr_t)in_a_thread(look_often, NULL);
	assert_true(found >= 1000 && found < 5000);
}

TEST_FIXTURE(names_are_utf8, fresh, NULL)
{
	static const uint16_t wide[] = {'a', 0x6587, 0xdcff};
	static const uint32_t wider[] = {0x1f40d, 0xe9};
	static char too_long[5000];

	for (unsigned i = 0; i < FRAMES; i++)
		code[i][VERSION] = (uint64_t)(5000 + i) << 32;
	make_text(function[0], "na\xefve", 5, 1, false);
	make_text(function[1], wide, 3, 2, false);
	make_text(function[2], wider, 2, 4, false);
	make_text(function[3], "", 0, 1, true);
	memset(too_long, 'x', sizeof(too_long));
	make_text((uint64_t *)(void *)too_long, "y", 1, 1, true);
	((uint64_t *)(void *)too_long)[2] = sizeof(too_long) - 40;
	code[4][FUNCTION] = (uintptr_t)too_long;
	assert_string_equal(seen(0)->function, "na\xc3\xafve");
	assert_string_equal(seen(1)->function, "a\xe6\x96\x87\xff");
	assert_string_equal(seen(2)->function, "\xf0\x9f\x90\x8d\xc3\xa9");
	assert_string_equal(seen(3)->function, "");
	assert_int_equal(strlen(seen(4)->function), 1024);
}

/* ---- reports ---- */

TEST_FIXTURE(reports_name_lines, fresh, NULL)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	f.suspect_count = 1;
	f.suspect[0].name = "vec_add";
	f.suspect[0].python[0] = gmod_python_here(2);
	f.suspect[0].python[1] = gmod_python_here(1);
	f.buffer.allocated_at.python = gmod_python_here(3);
	report_one("", &f);
	expect("\n      at file0.py:101 in f0\n      at file1.py:201 in f1\n      at file2.py:301 in f2\n      #0 ");
	expect("\n         launched\n           at file0.py:101 in f0\n           at file1.py:201 in f1\n"
	       "         also launched\n           at file0.py:101 in f0\n    changed bytes");
	expect("offset +0 file0.py:101 in f0\n");
	expect("\n    or, for the file of suppressions: heap-buffer-overflow:f0 && f1\n");
	f.id = next_id++;
	report_one("log_format=json", &f);
	assert_int_equal(json_lines(text), 1);
	expect("\"python\":[{\"function\":\"f0\",\"file\":\"file0.py\",\"line\":101},{\"function\":\"f1\",\"file\":"
	       "\"file1."
	       "py\",\"line\":201},{\"function\":\"f2\",\"file\":\"file2.py\",\"line\":301}],\"frames\":[{\"module\":");
	expect(
	    "\"python\":[{\"function\":\"f0\",\"file\":\"file0.py\",\"line\":101},{\"function\":\"f1\",\"file\":"
	    "\"file1."
	    "py\",\"line\":201}],\"python_elsewhere\":[[{\"function\":\"f0\",\"file\":\"file0.py\",\"line\":101}]]}]");
	expect("\"site\":\"file0.py:101 in f0\"");
}

TEST_FIXTURE(suspects_of_one_name_share_their_places, fresh, NULL)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	f.suspect_count = 3;
	f.suspect[0] = (struct gmod_suspect){.name = "vec_add", .python = {gmod_python_here(2)}};
	f.suspect[1] = (struct gmod_suspect){.name = "scale", .python = {gmod_python_here(1)}};
	f.suspect[2] = (struct gmod_suspect){
	    .name = "vec_add", .graph = 9, .python = {f.suspect[1].python[0], f.suspect[0].python[0]}};
	report_one("", &f);
	expect("\n         launched\n           at file0.py:101 in f0\n           at file1.py:201 in f1\n"
	       "         also launched\n           at file0.py:101 in f0\n      2. scale x0");
	expect(" into the buffer\n         launched\n           at file0.py:101 in f0\n    changed bytes");
}

/* A module's own lines are no function that tells it from others, and its file has all of a program. */
TEST_FIXTURE(a_site_without_a_name_is_suppressed_by_its_line, fresh, NULL)
{
	struct gmod_finding f = finding(GMOD_LEAK);

	code[0][VERSION] = (uint64_t)6000 << 32;
	memcpy((char *)function[0] + 40, "<>", 2);
	f.buffer.allocated_at.python = gmod_python_here(1);
	report_one("", &f);
	expect("offset +0 file0.py:101 in <>\n");
	expect("\n    or, for the file of suppressions: leak:file0.py:101 in <>\n");
}

/* Natively all of a Python program's calls come from one place. */
TEST_FIXTURE(sites_are_told_by_lines, fresh, NULL)
{
	struct gmod_finding f = finding(GMOD_LEAK);

	start("");
	for (unsigned i = 0; i < 3 * GMOD_REPORTS_PER_SITE; i++) {
		f.id = next_id++;
		f.buffer.allocated_at.python = gmod_python_here(1 + i % 2);
		report(&f);
	}
	assert_int_equal(count("SUMMARY: "), 2 * GMOD_REPORTS_PER_SITE);
}
