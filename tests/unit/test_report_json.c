/* Reports as JSON, and that nothing a program can put into a report breaks a line or an object. */
#include "tests/unit/json_reader.h"
#include "include/gmod.h"
#include "lib/base/origin.h"
#include "monitor/report/json.h"
#include "tests/unit/reporting.h"

/* ---- JSON ---- */

TEST(the_json_reader_is_strict)
{
	static const char *const bad[] = {"{\"a\":1,}\n",       "{\"a\":01}\n",     "{\"a\":\"\x01\"}\n",
					  "{\"a\":\"\xff\"}\n", "{a:1}\n",          "{\"a\":\"\\x\"}\n",
					  "{\"a\":1}{}\n",      "{\"a\":\"\n\"}\n", "[1]\n",
					  "{\"a\":nul}\n",      "{\"a\":1}"};

	assert_int_equal(json_lines("{\"a\":[1,-2,{\"b\":null}],\"c\":\"\\u00e9\xc3\xa9\"}\n{}\n"), 2);
	for (size_t i = 0; i < SIZE_OF(bad); i++) {
		const char *end = *bad[i] == '{' ? json_value(bad[i], 0) : NULL;

		assert_true(!end || strcmp(end, "\n") != 0);
	}
}

TEST(json_has_the_same_facts)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	static const uint64_t uuid[2] = {0x7766554433221100, 0xffeeddccbbaa9988};
	char id[80];

	f.observed_count = GMOD_OBSERVED_MAX;
	f.observed[GMOD_OBSERVED_MAX - 1] = 'B';
	f.expected[GMOD_OBSERVED_MAX - 1] = 'C';
	f.suspect_count = 1;
	f.suspect[0] = (struct gmod_suspect){.name = "_Z7vec_addPfi",
					     .launches = 3,
					     .unfinished = 2,
					     .stream = 0x55d0,
					     .grid = {4, 1, 1},
					     .block = {256, 1, 1},
					     .pointer = {GMOD_POINTS_AT, 1, 8, 16, 0xabc}};
	setenv("SLURM_PROCID", "3", 1); /* of the node that torchrun is on */
	setenv("LOCAL_RANK", "0", 1);
	setenv("RANK", "07", 1);
	gmod_gpu_met(0, uuid);
	report_one("log_format=json", &f);
	unsetenv("RANK");
	unsetenv("SLURM_PROCID");
	assert_int_equal(json_lines(text), 1);
	snprintf(id, sizeof(id), "\"event\":\"finding\",\"pid\":%d,\"host\":\"", (int)getpid());
	expect(id);
	snprintf(id, sizeof(id), "\",\"rank\":7,\"version\":\"%s\",\"id\":%u,\"status\":\"final\"", GMOD_VERSION, f.id);
	expect("{\"schema\":\"gmod-report-2\",");
	expect(id);
	expect(",\"class\":\"heap-buffer-overflow\",");
	expect(",\"device\":0,\"gpu\":\"GPU-00112233-4455-6677-8899-aabbccddeeff\",\"size\":4000,\"offset\":0,\"site\":"
	       "\"the_caller test_report_json+0x");
	expect(",\"message\":\"16 bytes changed, 0 bytes past the end of a 4000-byte buffer\",");
	expect(",\"buffer\":{\"base\":\"0x7f1f30000000\",\"size\":4000,\"device\":0,\"memory\":\"device\",\"backend\":"
	       "\"unified\"");
	expect("\"frames\":[{\"module\":\"test_report_json\",\"path\":\"/");
	expect("\"function\":\"the_caller\",\"symbol\":\"the_caller\"}");
	expect(",\"observed\":\"41414141414141414141414141414141"
	       "41414141414141414141414141414142\",\"expected\":\"000000000000000000000000000000000000000000000000"
	       "0000000000000043\",\"restored\":false,");
	expect("\"intact\":\"1970-01-01T12:31:07.102311000Z\",\"seen\":\"1970-01-01T12:31:07.103302000Z\"");
	expect("\"suspects\":[{\"kernel\":\"vec_add\",\"symbol\":\"_Z7vec_addPfi\",\"launches\":3,\"unfinished\":2,"
	       "\"first\":null,\"launched\":null,"
	       "\"stream\":\"0x55d0\",\"graph\":null,\"grid\":[4,1,1],\"block\":[256,1,1],\"arguments\":{\"point\":"
	       "\"buffer\",\"argument\":1,\"byte\":8,\"address\":\"0xabc\",\"distance\":16},\"python\":[],"
	       "\"python_elsewhere\":[]}]");
	expect(",\"next_step\":\"gmod --exact ");
}

/* Each member is somebody else's number, and of several elements each is its own. */
TEST(json_has_all_that_is_known)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	struct gmod_buffer_facts near[2] = {f.buffer, f.buffer};

	near[0].size = 1;
	near[0].device = 2;
	near[1].size = 3;
	near[1].allocated_at = (struct gmod_stack){.depth = 1, .pc = {another_caller()}};
	f.nearby = near;
	f.nearby_count = 2;
	f.buffer.device = 5;
	f.buffer.allocated_by = (struct gmod_kernel_thread){true, 6, 7};
	f.buffer.freed_ns = 1;
	f.buffer.freed_tid = 8;
	f.offset = 9;
	f.changed = 10;
	f.extent = 11;
	f.observed_count = 2;
	memset(f.expected, 'B', sizeof(f.expected));
	f.restored = true;
	f.past_front = 12;
	f.front_size = 13;
	f.entry_point = "cuSomething";
	f.address = 14;
	f.length = 15;
	f.called_tid = 16;
	f.called_by = (struct gmod_kernel_thread){true, 17, 18};
	f.error = 19;
	f.error_name = "AN_ERROR";
	f.suspect_count = 2;
	f.suspect[0] = (struct gmod_suspect){.name = "first",
					     .launches = 20,
					     .unfinished = 21,
					     .first_ns = 2,
					     .launched_ns = 1,
					     .stream = 22,
					     .pointer = {GMOD_POINTS_NEAR, 40, 41, 42, 43}};
	f.suspect[1] = (struct gmod_suspect){.launches = 23,
					     .stream = 24,
					     .graph = 25,
					     .grid = {26, 27, 28},
					     .block = {29, 30, 31},
					     .pointer = {.pointing = GMOD_POINTS_AWAY}};
	f.suspects_omitted = 32;
	f.launches_lost = 33;
	f.unknown_before_ns = 1;
	report_one("log_format=json", &f);
	assert_int_equal(json_lines(text), 1);
	expect("\"device\":5,\"gpu\":null,\"size\":4000,\"offset\":9,");
	expect("\"thread\":4242,\"kernel_block\":6,\"kernel_thread\":7,\"python\":[],\"frames\":[{");
	expect("\"freed\":{\"time\":\"1970-01-01T00:00:00.000000001Z\",\"thread\":8,\"python\":[],\"frames\":[");
	expect("\"corruption\":{\"offset\":9,\"changed\":10,\"extent\":11,\"observed\":\"4141\",\"expected\":\"4242\","
	       "\"restored\":true,"
	       "\"past_front\":12,\"front_size\":13,\"intact\":");
	expect("\"call\":{\"entry_point\":\"cuSomething\",\"address\":\"0xe\",\"length\":15,\"thread\":16,"
	       "\"kernel_block\":17,\"kernel_thread\":18,\"error\":19,\"error_name\":\"AN_ERROR\",\"python\":[],"
	       "\"frames\":[");
	expect("[{\"kernel\":\"first\",\"symbol\":\"first\",\"launches\":20,\"unfinished\":21,\"first\":\"1970-01-"
	       "01T00:00:00.000000002Z\",\"launched\":\"1970-01-01T00:00:00.000000001Z\",\"stream\":\"0x16\","
	       "\"graph\":null,\"grid\":[0,0,0],\"block\":[0,0,0],\"arguments\":{\"point\":\"near\",\"argument\":40,"
	       "\"byte\":41,\"address\":\"0x2b\",\"distance\":42},\"python\":[],\"python_"
	       "elsewhere\":[]},{\"kernel\":"
	       "null,\"symbol\":null,\"launches\":23,"
	       "\"unfinished\":0,\"first\":null,\"launched\":null,\"stream\":\"0x18\",\"graph\":\"0x19\",\"grid\":[26,"
	       "27,28],"
	       "\"block\":[29,30,31],\"arguments\":{\"point\":\"none\"},\"python\":[],\"python_"
	       "elsewhere\":[]}],"
	       "\"suspects_total\":34,\"suspects_omitted\":32,\"launches_lost\":33,\"unknown_before\":\"1970-01-01T00:"
	       "00:00.000000001Z\",");
	expect("\"size\":1,\"device\":2,\"memory\":\"device\",\"backend\":\"unified\",\"allocation\":17,\"site\":\"the_"
	       "caller ");
	expect("\"size\":3,\"device\":0,\"memory\":\"device\",\"backend\":\"unified\",\"allocation\":17,\"site\":"
	       "\"another_"
	       "caller ");
	expect("}],\"next_step\":");
}

static void report_at(uintptr_t caller, char hash[32])
{
	struct gmod_finding f = finding(GMOD_LEAK);
	const char *at;

	f.buffer.allocated_at = (struct gmod_stack){.depth = 2, .pc = {caller, next_site++}};
	at = strstr(report_one("log_format=json", &f), "\"site_hash\":\"");
	assert_non_null(at);
	snprintf(hash, 32, "%.31s", at);
}

/* Where generated code lies differs from run to run. */
TEST(a_site_hash_leaves_generated_code_out)
{
	char first[32], same[32], other[32];

	report_at(the_caller(), first);
	report_at(the_caller(), same);
	report_at(another_caller(), other);
	assert_string_equal(first, same);
	assert_string_not_equal(first, other);
}

TEST(json_says_what_memory_it_is)
{
	static const char *const words[] = {"device", "managed", "pinned", "kernel"};
	char member[32];

	for (int kind = GMOD_MEM_DEVICE; kind <= GMOD_MEM_KERNEL; kind++) {
		struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

		f.buffer.memory = (enum gmod_memory)kind;
		report_one("log_format=json", &f);
		snprintf(member, sizeof(member), ",\"memory\":\"%s\",", words[kind]);
		expect(member);
	}
}

TEST(without_a_buffer_json_invents_none)
{
	struct gmod_finding f = finding(GMOD_POST_MORTEM);

	f.buffer = (struct gmod_buffer_facts){0};
	report_one("log_format=json", &f);
	assert_int_equal(json_lines(text), 1);
	expect(",\"device\":null,\"gpu\":null,\"size\":null,\"offset\":null,\"site\":");
	expect(",\"buffer\":null,");
}

TEST(provisional_json_says_so)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_UNDERFLOW);

	start("log_format=json");
	f.status = GMOD_PROVISIONAL;
	report(&f);
	f.status = GMOD_FINAL;
	report(&f);
	assert_int_equal(json_lines(logged()), 2);
	assert_int_equal(count("\"status\":\"provisional\""), 1);
	assert_int_equal(count("\"status\":\"final\""), 1);
}

TEST(a_json_log_holds_only_json)
{
	struct gmod_run_summary s = {.count.hooks_armed = 3};
	struct gmod_finding f;

	write_file("rules", "bad\n");
	start("log_format=json:max_reports=1:suppressions=rules");
	for (int i = 0; i < 3; i++) {
		f = finding(GMOD_LEAK);
		report(&f);
	}
	gmod_report_counts(&s);
	s.count.kernel_left = 4;
	gmod_report_end();
	gmod_report_summary(&s);
	assert_int_equal(json_lines(logged()), 4);
	expect("\"event\":\"summary\"");
	expect(",\"kernel_buffers\":0,\"kernel_left\":4,");
	expect("\"findings\":3,\"findings_by_class\":{\"heap-buffer-overflow\":0,");
	assert_int_equal(count("SUMMARY"), 0);
}

TEST(the_json_share_counts_what_is_not_covered)
{
	struct gmod_run_summary s = {0};

	start("log_format=json");
	gmod_report_summary(&s);
	expect(",\"guarded_permille\":null,");
	s.count.guarded_bytes = 1000;
	s.count.unsupported_bytes = 1;
	gmod_report_summary(&s);
	expect(",\"guarded_permille\":999,");
	assert_int_equal(json_lines(logged()), 2);
}

/* ---- hostile strings ---- */

static char long_name[10001];

static const char *const hostile[] = {
    "\x1b[2J\x1b]0;owned\x07",
    "kern\nSUMMARY: GMOD: heap-buffer-overflow device 0 size 1 offset +0 fake",
    "\xff\xfe\xc0\x80\xed\xa0\x80",
    "\"},{\"class\":\"fake\"\\",
    "\xe2\x80\xaeoverride\xe2\x80\xac",
    "a\rb\bc\x7f\xc2\x9b"
    "31m",
    "$(reboot) `reboot` 'q' \"q\" ; reboot",
    "_ZN\x1b"
    "3fooE",
    "_Z4\n\n\n\nv",
    "%s%n%s%n",
    "",
    long_name,
};

#define HOSTILE (SIZE_OF(hostile))

/* Strings of the program everywhere where a finding can hold one. */
static struct gmod_finding hostile_finding(enum gmod_class class, const char *s, struct gmod_buffer_facts *near)
{
	static struct gmod_fault fault;
	struct gmod_finding f = finding(class);

	fault = (struct gmod_fault){.has_pc = true, .kernel = s, .function = s, .lines = GMOD_FAULT_INLINED};
	for (int i = 0; i < GMOD_FAULT_INLINED; i++)
		fault.at[i] = (struct gmod_fault_line){s, s, s, 1};
	f.fault = &fault;

	for (int i = 0; i < GMOD_SUSPECTS_MAX; i++)
		f.suspect[i].name = s;
	f.suspect_count = GMOD_SUSPECTS_MAX;
	f.buffer.backend = f.entry_point = f.error_name = s;
	f.buffer.freed_ns = 1;
	*near = f.buffer;
	f.nearby = near;
	f.nearby_count = 1;
	return f;
}

TEST(hostile_names_stay_within_their_line)
{
	struct gmod_buffer_facts near;

	memset(long_name, 'k', sizeof(long_name) - 1);
	for (size_t i = 0; i < HOSTILE; i++) {
		for (int class = 0; class < GMOD_CLASS_COUNT; class ++) {
			struct gmod_finding f = hostile_finding(class, hostile[i], &near);
			const char *line = report_one("", &f);

			assert_int_equal(strncmp(line, "==", 2), 0);
			for (const char *next; (next = strchr(line, '\n')); line = next + 1) {
				assert_true(next - line < 4096);
				assert_true(*line == ' ' || line == text || strncmp(line, "SUMMARY: ", 9) == 0);
			}
			assert_int_equal(*line, '\0');
			assert_true(count("\nSUMMARY: ") == 1);
			for (const unsigned char *c = (const unsigned char *)text; *c; c++)
				assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
		}
	}
}

TEST(hostile_names_leave_json_valid)
{
	struct gmod_buffer_facts near;

	for (size_t i = 0; i < HOSTILE; i++) {
		for (int class = 0; class < GMOD_CLASS_COUNT; class ++) {
			struct gmod_finding f = hostile_finding(class, hostile[i], &near);

			report_one("log_format=json", &f);
			assert_int_equal(json_lines(text), GMOD_SUSPECTS_MAX / GMOD_SUSPECTS_SHOWN);
			assert_int_equal(count("\"class\":\"fake\""), 0);
			assert_null(strpbrk(text, "\x1b\x07\x7f"));
		}
	}
}

/* Wild counts and numbers, missing strings. */
TEST(senseless_findings_are_survived)
{
	static const char *const format[] = {"", "log_format=json"};
	struct gmod_finding f;

	for (int i = 0; i < 2 * GMOD_CLASS_COUNT; i++) {
		memset(&f, 0, sizeof(f));
		f.class = i / 2;
		f.id = next_id++;
		f.status = GMOD_FINAL;
		report_one(format[i % 2], &f);
		assert_true(i % 2 ? json_lines(text) == 1 : count("SUMMARY") == 1);

		memset(&f, 0xff, sizeof(f));
		f.class = i / 2;
		f.id = next_id++;
		f.status = GMOD_FINAL;
		f.restored = f.buffer.exported = f.buffer.ended = f.buffer.allocated_by.known = f.called_by.known =
		    true;
		f.buffer.backend = f.buffer.name = f.entry_point = f.error_name = NULL;
		f.fault = NULL;
		f.nearby = NULL;
		f.nearby_count = 0;
		f.suspect = room_for_suspects;
		for (int s = 0; s < GMOD_SUSPECTS_MAX; s++)
			f.suspect[s].name = NULL;
		report_one(format[i % 2], &f);
		assert_true(i % 2 ? json_lines(text) == GMOD_SUSPECTS_MAX / GMOD_SUSPECTS_SHOWN
				  : count("SUMMARY") == 1);
	}
}

/* The longest names there can be, each byte escaped, fit into what the report has (monitor/report/report.c). */
TEST(the_longest_json_fits)
{
	/* 6 MiB of it are for the suspects, and where they were launched. */
	enum { ROOM = (10 - 6) << 20 };
	static struct gmod_report_view v;
	static struct gmod_python python = {.depth = GMOD_PYTHON_MAX};
	static char name[1025];
	struct gmod_finding f = finding(GMOD_LEAK);
	char *out = malloc(ROOM);
	struct gmod_text t;

	f.buffer.freed_ns = 1;
	v.finding = &f;
	memset(name, 1, sizeof(name) - 1);
	for (int i = 0; i < GMOD_PYTHON_MAX; i++)
		python.frame[i] = (struct gmod_python_frame){name, name, 1};
	for (int s = 0; s < GMOD_STACKS; s++) {
		v.stack[s].python = &python;
		v.stack[s].depth = GMOD_STACK_MAX;
		for (int i = 0; i < GMOD_STACK_MAX; i++) {
			memset(v.stack[s].frame[i].module, 1, GMOD_MODULE_NAME_MAX - 1);
			memset(v.stack[s].frame[i].path, 1, GMOD_MODULE_PATH_MAX - 1);
			memset(v.stack[s].frame[i].build_id, 1, GMOD_BUILD_ID_MAX - 1);
			memset(v.stack[s].frame[i].symbol, 1, GMOD_SYMBOL_NAME_MAX - 1);
			memset(v.stack[s].frame[i].function, 1, GMOD_SHORT_NAME_MAX - 1);
		}
	}
	gmod_text_init(&t, out, ROOM);
	gmod_report_json(&v, &t);
	assert_false(t.full);
	assert_int_equal(json_lines(out), 1);
	free(out);
}
