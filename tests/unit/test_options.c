/* GMOD_OPTIONS: what is understood, what is complained about, and that a complaint changes nothing. */
#include "lib/base/options.h"

#include "tests/unit/test.h"

enum { LINES = 128 };

struct lines {
	int count;
	char text[LINES][600];
};

/* Every option, with its default. */
static const char *const item[] = {
#define GMOD_OPTION(type, name, fallback, minimum, maximum, choices, help) #name "=" fallback,
#include "lib/base/options.def"
};

static void keep(void *arg, const char *line)
{
	struct lines *l = arg;

	assert_true(l->count < LINES);
	assert_true(strlen(line) < sizeof(l->text[0]));
	strcpy(l->text[l->count++], line);
}

static struct gmod_options o; /* what was parsed last */

/* Parse `text` over the defaults; the number of complaints must be the number of lines. */
static struct lines parse(const char *text)
{
	struct lines l = {0};
	int complaints;

	gmod_options_defaults(&o);
	complaints = gmod_options_parse(&o, text, keep, &l);
	assert_int_equal(complaints, l.count);
	return l;
}

static void expect_clean(const char *text)
{
	struct lines l = parse(text);

	if (l.count)
		print_error("%s\n", l.text[0]);
	assert_int_equal(l.count, 0);
}

/* One complaint that holds `words`, and every option still at its default. */
static void expect_complaint(const char *text, const char *words)
{
	struct gmod_options untouched;
	struct lines l = parse(text);

	assert_int_equal(l.count, 1);
	if (!strstr(l.text[0], words))
		print_error("\"%s\" lacks \"%s\"\n", l.text[0], words);
	assert_non_null(strstr(l.text[0], words));
	gmod_options_defaults(&untouched);
	assert_memory_equal(&o, &untouched, sizeof(o));
}

static void expect_no_guess(const char *text)
{
	struct lines l = parse(text);

	assert_int_equal(l.count, 1);
	assert_null(strstr(l.text[0], "did you mean"));
}

TEST(the_defaults_are_those_of_the_table)
{
	memset(&o, 0xff, sizeof(o));
	gmod_options_defaults(&o);
	assert_true(o.enabled);
	assert_int_equal(o.backend, GMOD_OPTION_BACKEND_DEVICE);
	assert_int_equal(o.scan_interval_us, 1000);
	assert_int_equal(o.max_cpu, GMOD_PERCENT_ONE);
	assert_int_equal(o.redzone_mb, 0);
	assert_int_equal(o.sample_rate, 1);
	assert_int_equal(o.max_overhead, GMOD_PERCENT_ONE);
	assert_false(o.halt_on_error);
	assert_int_equal(o.exitcode, 86);
	assert_false(o.exit_on_findings);
	assert_string_equal(o.log_path, "");
	assert_int_equal(o.log_format, GMOD_OPTION_LOG_TEXT);
	assert_int_equal(o.stack_depth, 16);
	assert_int_equal(o.max_reports, 100);
	assert_false(o.leak_check);
	assert_string_equal(o.suppressions, "");
	assert_int_equal(o.verbosity, 0);
	assert_true(o.signals);
	assert_string_equal(o.tally, "");
	assert_int_equal(o.device_heap, GMOD_OPTION_HEAP_SLAB);
	assert_int_equal(o.device_heap_mb, 256);
	assert_int_equal(o.device_guards, 32);
	assert_int_equal(o.device_guard_us, 1000);
	assert_int_equal(o.device_free_delay, 0);
	assert_false(o.device_halt_on_error);
	assert_false(o.help);
}

/* Both ends are good values, and what lies beyond is not. */
TEST(the_ranges_are_those_of_the_manual)
{
	static const struct {
		const char *name;
		long least, most;
	} range[] = {
	    {"scan_interval_us", 0, 60000000},
	    {"redzone_mb", 0, 1048576},
	    {"sample_rate", 1, 1000000},
	    {"exitcode", 0, 255},
	    {"stack_depth", 0, 32},
	    {"max_reports", 1, 1000000},
	    {"verbosity", 0, 2},
	    {"device_heap_mb", 16, 65536},
	    {"device_guards", 1, 256},
	    {"device_guard_us", 100, 60000000},
	    {"device_free_delay", 0, 30000},
	};
	char text[64];

	for (size_t i = 0; i < SIZE_OF(range); i++) {
		snprintf(text, sizeof(text), "%s=%ld:%s=%ld", range[i].name, range[i].least, range[i].name,
			 range[i].most);
		expect_clean(text);
		snprintf(text, sizeof(text), "%s=%ld", range[i].name, range[i].least - 1);
		expect_complaint(text, "bad value");
		snprintf(text, sizeof(text), "%s=%ld", range[i].name, range[i].most + 1);
		expect_complaint(text, "bad value");
	}
}

/* Each default, said explicitly, is accepted and changes nothing: a typo in the table would show here. */
TEST(every_default_is_a_good_value)
{
	struct gmod_options defaults;

	gmod_options_defaults(&defaults);
	for (size_t i = 0; i < SIZE_OF(item); i++) {
		expect_clean(item[i]);
		assert_memory_equal(&o, &defaults, sizeof(o));
	}
}

TEST(every_kind_of_value_is_understood)
{
	expect_clean("enabled=0:backend=native:scan_interval_us=0:max_cpu=0.125:log_path=/tmp/x.%p:log_format=json");
	assert_false(o.enabled);
	assert_int_equal(o.backend, GMOD_OPTION_BACKEND_NATIVE);
	assert_int_equal(o.scan_interval_us, 0);
	assert_int_equal(o.max_cpu, 125);
	assert_string_equal(o.log_path, "/tmp/x.%p");
	assert_int_equal(o.log_format, GMOD_OPTION_LOG_JSON);
	expect_clean("backend=unified");
	assert_int_equal(o.backend, GMOD_OPTION_BACKEND_UNIFIED);
}

TEST(a_bool_has_words)
{
	expect_clean("leak_check=yes:signals=no");
	assert_true(o.leak_check && !o.signals);
	expect_clean("leak_check=true:signals=false");
	assert_true(o.leak_check && !o.signals);
	expect_complaint("leak_check=maybe", "expected 0 or 1, no or yes");
	expect_complaint("leak_check=2", "leak_check");
	expect_complaint("leak_check=", "leak_check");
}

TEST(a_hyphen_is_an_underscore_in_a_key)
{
	expect_clean("leak-check=1:Scan-Interval_US=7");
	assert_true(o.leak_check);
	assert_int_equal(o.scan_interval_us, 7);
	expect_complaint("leak-chek=1", "did you mean \"leak_check=");
	expect_complaint("device-heap=sl-ab", "device_heap");
	expect_complaint("a-key-that-is-longer-than-any-word-that-there-is-in-the-table-of-options=1", "unknown");
}

TEST(percentages_are_exact)
{
	static const struct {
		const char *text;
		unsigned parts;
	} good[] = {{"max_cpu=0", 0},     {"max_cpu=100", 100000}, {"max_cpu=100.000", 100000}, {"max_cpu=.5", 500},
		    {"max_cpu=7.", 7000}, {"max_cpu=0.001", 1},    {"max_cpu=99.999", 99999}};
	for (size_t i = 0; i < SIZE_OF(good); i++) {
		expect_clean(good[i].text);
		assert_int_equal(o.max_cpu, good[i].parts);
	}
	expect_complaint("max_cpu=100.001", "from 0 to 100");
	expect_complaint("max_cpu=0.0001", "at most 3 decimals");
	expect_complaint("max_cpu=.", "from 0 to 100");
	expect_complaint("max_cpu=1.2.3", "from 0 to 100");
	expect_complaint("max_cpu=1,5", "from 0 to 100");
}

TEST(nothing_and_empty_items_are_fine)
{
	expect_clean("");
	expect_clean(NULL);
	expect_clean(":::");
	expect_clean(":verbosity=2::leak_check=1:");
	assert_int_equal(o.verbosity, 2);
	assert_true(o.leak_check);
}

TEST(the_last_value_wins)
{
	expect_clean("verbosity=1:verbosity=2");
	assert_int_equal(o.verbosity, 2);
}

TEST(a_bad_value_keeps_an_earlier_good_one)
{
	assert_int_equal(parse("verbosity=1:verbosity=9").count, 1);
	assert_int_equal(o.verbosity, 1);
}

TEST(quotes_protect_colons)
{
	expect_clean("log_path=\"/a:b=c/'x'\":verbosity=1");
	assert_string_equal(o.log_path, "/a:b=c/'x'");
	assert_int_equal(o.verbosity, 1);
	expect_clean("suppressions='C:\"\\file':verbosity='2'");
	assert_string_equal(o.suppressions, "C:\"\\file");
	assert_int_equal(o.verbosity, 2);
	expect_clean("log_path=\"\"");
	assert_string_equal(o.log_path, "");
	expect_clean("log_path=a\"b"); /* not at the beginning: a plain byte */
	assert_string_equal(o.log_path, "a\"b");
}

TEST(broken_quotes_are_named)
{
	expect_complaint("log_path=\"/a:verbosity=1", "quote is not closed in the value of \"log_path\"");
	expect_complaint("log_path='/a'b", "behind the closing quote in the value of \"log_path\"");
	assert_int_equal(parse("log_path='/a'b:verbosity=2").count, 1);
	assert_int_equal(o.verbosity, 2); /* the parser finds its way back */
}

TEST(an_unknown_key_names_the_nearest)
{
	expect_complaint("scan_intervl_us=5", "GMOD_OPTIONS: ignored: unknown option \"scan_intervl_us\"; "
					      "did you mean \"scan_interval_us=...\"?");
	expect_complaint("exit_code=1", "did you mean \"exitcode=...\"?");
	expect_complaint("Verbosit=1", "did you mean \"verbosity=...\"?");
	expect_complaint("HALT-ON-EROR=1", "did you mean \"halt_on_error=...\"?");
	expect_complaint("verbosity =1", "did you mean \"verbosity=...\"?");
}

/* Up to a third of the letters, one at least and three at most. */
TEST(a_key_like_no_other_names_none)
{
	static const char *const strange[] = {
	    "=1", "foo=1", "bar=1", "v=1", "loglevel=1", "helping=1", "verb=1", "nonsense", "stack_depression=1"};

	for (size_t i = 0; i < SIZE_OF(strange); i++)
		expect_complaint(strange[i], "\"; GMOD_OPTIONS=help=1 lists them");
	expect_complaint("hlp=1", "did you mean \"help=...\"?");
	expect_complaint("backkkend=1", "did you mean \"backend=...\"?");
	expect_complaint("backkkkend=1", "did you mean \"backend=...\"?");
	expect_complaint("backkkkkend=1", "GMOD_OPTIONS=help=1 lists them");
}

/* What is said to who typed a command that does not run with them. */
TEST(a_command_is_told_in_its_own_words)
{
	static const struct {
		const char *text, *line;
	} told[] = {
	    {"foo=1", "unknown option \"foo\"; gmod --help=all lists them"},
	    {"max_cp=1", "unknown option \"max_cp\"; did you mean \"max_cpu=...\"?"},
	    {"verbosity=9", "bad value \"9\" for verbosity: expected a whole number from 0 to 2"},
	    {"verbosity", "no value in \"verbosity\"; write verbosity=VALUE"},
	    {"help", "no value in \"help\"; write help=1 or =0"},
	};

	for (size_t i = 0; i < SIZE_OF(told); i++) {
		struct lines l = {0};

		gmod_options_defaults(&o);
		assert_int_equal(gmod_options_check(&o, told[i].text, keep, &l), 1);
		assert_string_equal(l.text[0], told[i].line);
	}
}

TEST(blanks_around_items_are_skipped)
{
	expect_clean(" verbosity=2 : leak_check=1\t:\n  log_path=/a b :  ");
	assert_int_equal(o.verbosity, 2);
	assert_true(o.leak_check);
	assert_string_equal(o.log_path, "/a b");
	expect_clean("log_path=' /a ' : verbosity=1");
	assert_string_equal(o.log_path, " /a ");
	assert_int_equal(o.verbosity, 1);
	expect_complaint(" halt_on_error : ", "no value in \"halt_on_error\"");
}

/* A colon alone ends a value. */
TEST(other_separators_are_part_of_the_value)
{
	expect_complaint("verbosity=1 leak_check=1", "bad value \"1 leak_check=1\" for verbosity");
	expect_complaint("verbosity=1,leak_check=1", "expected a whole number from 0 to 2");
	expect_clean("log_path=/tmp/x,verbosity=1");
	assert_string_equal(o.log_path, "/tmp/x,verbosity=1");
}

TEST(it_is_said_that_a_bad_item_is_ignored)
{
	expect_complaint("verbosity=9", "GMOD_OPTIONS: ignored: bad value \"9\" for verbosity: expected");
	expect_complaint("verbosity", "GMOD_OPTIONS: ignored: no value in \"verbosity\"; write verbosity=VALUE");
	expect_complaint("log_path='x", "GMOD_OPTIONS: ignored: a quote is not closed in the value of \"log_path\"");
}

TEST(a_key_without_a_value_is_named)
{
	expect_complaint("halt_on_error", "no value in \"halt_on_error\"");
	expect_complaint("halt-on-error", "no value in \"halt_on_error\"");
}

TEST(a_bad_choice_names_the_good_ones)
{
	expect_complaint("backend=unifed", "expected device|unified|managed|native");
	expect_complaint("log_format=JSON", "expected text|json");
	expect_complaint("log_format=xml", "expected text|json");
	expect_no_guess("log_format=xml");
	expect_complaint("backend=", "bad value \"\" for backend");
	expect_complaint("backend=auto unified", "expected device|unified|managed|native");
}

TEST(a_bad_number_names_the_range)
{
	expect_complaint("sample_rate=0", "a whole number from 1 to 1000000");
	expect_complaint("sample_rate=1000001", "from 1 to 1000000");
	expect_complaint("exitcode=-1", "from 0 to 255");
	expect_complaint("exitcode=0x10", "from 0 to 255");
	expect_complaint("exitcode=99999999999999999999999999", "from 0 to 255");
	expect_complaint("exitcode=18446744073709551621", "from 0 to 255"); /* 5, modulo 2 to the 64 */
	expect_complaint("exitcode=", "from 0 to 255");
	expect_complaint("exitcode= 1", "from 0 to 255");
	expect_complaint("exitcode=1.0", "from 0 to 255");
	expect_complaint("enabled=2", "expected 0 or 1");
	expect_complaint("enabled=on", "expected 0 or 1");
}

TEST(a_string_is_kept_up_to_its_limit)
{
	char text[700] = "log_path=";
	size_t key = strlen(text);
	memset(text + key, 'x', GMOD_OPTION_STRING_MAX - 1);
	expect_clean(text);
	assert_int_equal(strlen(o.log_path), GMOD_OPTION_STRING_MAX - 1);
	text[key + GMOD_OPTION_STRING_MAX - 1] = 'x';
	expect_complaint(text, "at most 511 bytes");
}

TEST(every_bad_item_gets_its_own_line)
{
	struct lines l = parse("foo=1:verbosity=9:bar:leak_check=1:backend=x");

	assert_int_equal(l.count, 4);
	assert_true(o.leak_check);
	assert_int_equal(gmod_options_parse(&o, "foo=1:bar", NULL, NULL), 2);
}

static void check_one_printable(const struct lines *l)
{
	assert_int_equal(l->count, 1);
	for (const char *c = l->text[0]; *c; c++)
		assert_in_range((unsigned char)*c, ' ', '~');
}

/* Control bytes, escapes and 10 000 bytes of them: a complaint stays one printable line. */
TEST(complaints_are_printable)
{
	char *text = malloc(10002);
	struct lines l;

	assert_non_null(text);
	for (int i = 0; i < 10000; i++)
		text[i] = "\x1b[31m\n\xff\x01"[i % 8];
	text[10000] = '\0';
	l = parse(text);
	assert_int_equal(l.count, 1);
	assert_non_null(strstr(l.text[0], "\\x1b[31m\\x0a\\xff\\x01"));
	check_one_printable(&l);
	memcpy(text, "verbosity=", 10);
	l = parse(text);
	check_one_printable(&l);
	free(text);
}

TEST(help_shows_every_option)
{
	static const char *const help[] = {
#define GMOD_OPTION(type, name, fallback, minimum, maximum, choices, help) help,
#include "lib/base/options.def"
	};
	struct lines l = {0};

	gmod_options_help(keep, &l);
	assert_int_equal(l.count, 1 + 2 * SIZE_OF(item));
	for (size_t i = 0; i < SIZE_OF(item); i++) {
		assert_memory_equal(l.text[1 + 2 * i], item[i], strlen(item[i]));
		assert_string_equal(l.text[2 + 2 * i], help[i]);
	}
}
