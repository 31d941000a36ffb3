/* Text in the making: what is escaped, what is cut, and the clock. */
#include "lib/base/text.h"

#include "tests/unit/support.h"

static const char *escaped(const char *s, size_t max)
{
	static char out[4096];
	struct gmod_text t;

	gmod_text_init(&t, out, sizeof(out));
	gmod_text_escaped(&t, s, max);
	return out;
}

static const char *quoted(const char *s, size_t max)
{
	static char out[4096];
	struct gmod_text t;

	gmod_text_init(&t, out, sizeof(out));
	gmod_text_json(&t, s, max);
	return out;
}

TEST(escaping_leaves_readable_text_alone)
{
	assert_string_equal(escaped("void f<int>(\"x\\y\")", 100), "void f<int>(\"x\\y\")");
	assert_string_equal(escaped("\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80", 100),
			    "\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80");
	assert_string_equal(escaped("", 100), "");
	assert_string_equal(escaped(NULL, 100), "?");
}

TEST(escaping_shows_what_hides)
{
	static const struct {
		const char *in, *out;
	} row[] = {
	    {"a\nb\r\t\x1b[2J\x7f", "a\\x0ab\\x0d\\x09\\x1b[2J\\x7f"},
	    {"\xc2\x9b"
	     "31m",
	     "\\xc2\\x9b31m"}, /* a C1 control: CSI in one character */
	    {"\xe2\x80\xae"
	     "gpj",
	     "\\xe2\\x80\\xaegpj"},                                           /* right-to-left override */
	    {"\xe2\x80\x8b", "\\xe2\\x80\\x8b"},                              /* zero-width space */
	    {"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},                              /* byte order mark */
	    {"\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81"},                     /* a tag character */
	    {"\xe2\x81\xa6x\xe2\x81\xa9", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9"}, /* bidi isolates */
	    {"\xff\xfe", "\\xff\\xfe"},                                       /* no UTF-8 at all */
	    {"\xc0\xaf", "\\xc0\\xaf"},                                       /* overlong */
	    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                              /* a surrogate */
	    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},                     /* past the last character */
	    {"\xe4\xb8", "\\xe4\\xb8"},                                       /* cut in the middle */
	    {"\xe4x", "\\xe4x"},
	};

	for (size_t i = 0; i < SIZE_OF(row); i++)
		assert_string_equal(escaped(row[i].in, 100), row[i].out);
}

TEST(escaping_stops_at_its_limit)
{
	assert_string_equal(escaped("abcdef", 6), "abcdef");
	assert_string_equal(escaped("abcdefg", 6), "abcdef...");
	assert_string_equal(quoted("abcdefg", 6), "\"abcdef...\"");
}

TEST(json_strings_are_json)
{
	assert_string_equal(quoted("a\"b\\c/d", 100), "\"a\\\"b\\\\c/d\"");
	assert_string_equal(quoted("\n\x01\x7f\x1b", 100), "\"\\u000a\\u0001\\u007f\\u001b\"");
	assert_string_equal(quoted("\xc3\xa9", 100), "\"\xc3\xa9\"");
	assert_string_equal(quoted("\xe2\x80\xae", 100), "\"\\u202e\"");
	assert_string_equal(quoted("\xf3\xa0\x81\x81", 100), "\"\\udb40\\udc41\"");
	assert_string_equal(quoted("\xff\xed\xa0\x80", 100), "\"\\\\xff\\\\xed\\\\xa0\\\\x80\"");
	assert_string_equal(quoted(NULL, 100), "null");
}

TEST(a_full_text_is_a_prefix_and_says_so)
{
	char *out = malloc(8); /* on the heap, where a tool sees a byte too far */
	struct gmod_text t;

	assert_non_null(out);
	gmod_text_init(&t, out, 8);
	gmod_text_str(&t, "abc");
	gmod_text_escaped(&t,
			  "d\xff"
			  "e",
			  10); /* \xff does not fit as a whole */
	assert_true(t.full);
	assert_string_equal(out, "abcd");
	gmod_text_str(&t, "x");
	assert_string_equal(out, "abcd");
	gmod_text_mark_cut(&t);
	assert_string_equal(out, "a...");
	free(out);
}

TEST(cutting_spares_whole_characters)
{
	char out[8];
	struct gmod_text t;

	gmod_text_init(&t, out, sizeof(out));
	gmod_text_escaped(&t, "ab\xf0\x9f\x98\x80zzzz", 20);
	assert_true(t.full);
	gmod_text_mark_cut(&t);
	assert_string_equal(out, "ab...");
}

TEST(sizes_are_cut_behind_a_tenth)
{
	static const struct {
		uint64_t bytes;
		const char *size;
	} row[] = {
	    {0, "0 B"},
	    {1023, "1023 B"},
	    {1024, "1.0 KiB"},
	    {1024 + 102, "1.0 KiB"},
	    {1024 + 103, "1.1 KiB"},
	    {2047, "1.9 KiB"},
	    {(1 << 20) - 1, "1023.9 KiB"},
	    {3 << 19, "1.5 MiB"},
	    {UINT64_MAX, "15.9 EiB"},
	};
	char out[32];
	struct gmod_text t;

	for (size_t i = 0; i < SIZE_OF(row); i++) {
		gmod_text_init(&t, out, sizeof(out));
		gmod_text_size(&t, row[i].bytes);
		assert_string_equal(out, row[i].size);
	}
}

TEST(times_are_utc)
{
	static const struct {
		uint64_t second;
		const char *stamp;
	} row[] = {
	    {1, "\"1970-01-01T00:00:01.000000007Z\""},          {951782399, "\"2000-02-28T23:59:59.000000007Z\""},
	    {951782400, "\"2000-02-29T00:00:00.000000007Z\""},  {951868800, "\"2000-03-01T00:00:00.000000007Z\""},
	    {1798761599, "\"2026-12-31T23:59:59.000000007Z\""}, {4107542399, "\"2100-02-28T23:59:59.000000007Z\""},
	    {4107542400, "\"2100-03-01T00:00:00.000000007Z\""},
	};
	char out[64];
	struct gmod_text t;

	for (size_t i = 0; i < SIZE_OF(row); i++) {
		gmod_text_init(&t, out, sizeof(out));
		gmod_text_stamp(&t, row[i].second * 1000000000 + 7);
		assert_string_equal(out, row[i].stamp);
	}
	gmod_text_init(&t, out, sizeof(out));
	gmod_text_stamp(&t, 0);
	gmod_text_str(&t, " ");
	gmod_text_clock(&t, 45067102311999ull);
	assert_string_equal(out, "null 12:31:07.102311");
}
