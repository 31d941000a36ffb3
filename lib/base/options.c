#include "lib/base/options.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define LINE_MAX_BYTES 512
#define WORD_MAX 64 /* longer keys and words are compared by their first WORD_MAX bytes */

enum type { BOOL, UINT, PERCENT, CHOICE, STRING };

struct row {
	const char *name;
	enum type type;
	size_t offset; /* of the member in struct gmod_options */
	unsigned minimum, maximum;
	const char *fallback, *choices, *help;
};

static const struct row rows[] = {
#define GMOD_OPTION(type, name, fallback, minimum, maximum, choices, help) \
	{#name, type, offsetof(struct gmod_options, name), minimum, maximum, fallback, choices, help},
#include "lib/base/options.def"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Some bytes of the text being parsed; not terminated. */
struct slice {
	const char *at;
	size_t len;
};

struct complaint {
	void (*say)(void *, const char *);
	void *arg;
	int count;
	bool command;     /* heard by who typed a command, which does not run then; else by who set GMOD_OPTIONS */
	bool behind_text; /* the item before this one has text for a value: it may have been cut at a colon */
	char text[LINE_MAX_BYTES];
	struct gmod_text line; /* the one that is being made, in text */
};

/* At most 80 bytes of what somebody typed; what a terminal could take as a command becomes \xNN. */
static void put_slice(struct gmod_text *l, struct slice s)
{
	char bytes[WORD_MAX * 2];
	size_t n = s.len < sizeof(bytes) - 1 ? s.len : sizeof(bytes) - 1;

	memcpy(bytes, s.at, n);
	bytes[n] = '\0';
	gmod_text_escaped(l, bytes, 80);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ASCII only: tolower() goes by the program's locale. A hyphen is an underscore. */
static char plain(char c)
{
	if (c == '-')
		return '_';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Levenshtein's distance without regard to case and to - or _, by one row of the matrix. */
static size_t distance(struct slice a, struct slice b)
{
	uint8_t row[WORD_MAX + 1];
	size_t la = a.len < WORD_MAX ? a.len : WORD_MAX, lb = b.len < WORD_MAX ? b.len : WORD_MAX;

	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t above = row[j];

			row[j] =
			    smallest(above + 1, row[j - 1] + 1, diagonal + (plain(a.at[i - 1]) != plain(b.at[j - 1])));
			diagonal = above;
		}
	}
	return row[lb];
}

static struct slice whole(const char *s)
{
	return (struct slice){s, strlen(s)};
}

/* The next word of a CHOICE row's list, and *rest moved behind it; len 0 at the end. */
static struct slice next_word(const char **rest)
{
	struct slice word;

	*rest += strspn(*rest, " ");
	word = (struct slice){*rest, strcspn(*rest, " ")};
	*rest += word.len;
	return word;
}

static const struct row *find_row(struct slice key)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == key.len && distance(whole(rows[i].name), key) == 0)
			return &rows[i];
	return NULL;
}

static size_t slips_allowed(struct slice typed)
{
	size_t third = typed.len / 3;

	if (typed.len == 0)
		return 0;
	return third < 1 ? 1 : third > 3 ? 3 : third;
}

/*
 * What somebody may have meant; len 0: nothing. A word that was typed is a slip of another one only when few letters
 * differ, about a third.
 */
static struct slice nearest_key(struct slice typed)
{
	size_t least = slips_allowed(typed) + 1;
	struct slice best = {0};

	for (size_t i = 0; i < ROWS; i++) {
		size_t d = distance(whole(rows[i].name), typed);

		if (d >= least)
			continue;
		best = whole(rows[i].name);
		least = d;
	}
	return best;
}

/* A decimal number with exactly `decimals` digits kept behind the point; false if it is none or exceeds INT_MAX. */
static bool parse_number(struct slice s, unsigned decimals, unsigned *out)
{
	uint64_t value = 0;
	unsigned kept = 0;
	bool point = false, digit = false;

	for (size_t i = 0; i < s.len; i++) {
		if (s.at[i] == '.' && decimals > 0 && !point) {
			point = true;
			continue;
		}
		if (s.at[i] < '0' || s.at[i] > '9' || (point && kept++ == decimals))
			return false;
		digit = true;
		value = value * 10 + (unsigned)(s.at[i] - '0');
		if (value > INT_MAX)
			return false;
	}
	for (; kept < decimals; kept++)
		value *= 10;
	if (!digit || value > INT_MAX)
		return false;
	*out = value;
	return true;
}

static bool set_number(void *member, const struct row *r, struct slice value)
{
	unsigned scale = r->type == PERCENT ? GMOD_PERCENT_ONE : 1, n;

	if (!parse_number(value, r->type == PERCENT ? 3 : 0, &n) || n < r->minimum * scale || n > r->maximum * scale)
		return false;
	*(unsigned *)member = n;
	return true;
}

static bool set_choice(int *member, const char *choices, struct slice value)
{
	int position = 0;

	for (struct slice word = next_word(&choices); word.len > 0; word = next_word(&choices), position++) {
		if (word.len != value.len || memcmp(word.at, value.at, word.len) != 0)
			continue;
		*member = position;
		return true;
	}
	return false;
}

static bool set_string(char *member, struct slice value)
{
	if (value.len >= GMOD_OPTION_STRING_MAX)
		return false;
	memcpy(member, value.at, value.len);
	member[value.len] = '\0';
	return true;
}

static bool set(struct gmod_options *o, const struct row *r, struct slice value)
{
	void *member = (char *)o + r->offset;
	int choice;

	switch (r->type) {
	case BOOL:
		if (!set_choice(&choice, "0 no false 1 yes true", value))
			return false;
		*(bool *)member = choice > 2;
		return true;
	case CHOICE:
		return set_choice(member, r->choices, value);
	case STRING:
		return set_string(member, value);
	default:
		return set_number(member, r, value);
	}
}

/* What a value of this row may be: "0 or 1", "device|unified|native", "a number from 1 to 100". */
static void put_range(struct gmod_text *l, const struct row *r)
{
	switch (r->type) {
	case BOOL:
		gmod_text_str(l, "0 or 1, no or yes");
		return;
	case CHOICE:
		for (const char *c = r->choices; *c; c++)
			gmod_text_bytes(l, *c == ' ' ? "|" : c, 1);
		return;
	case STRING:
		gmod_text_fmt(l, "at most %d bytes", GMOD_OPTION_STRING_MAX - 1);
		return;
	default:
		gmod_text_fmt(l, "a %s from %u to %u",
			      r->type == PERCENT ? "number with at most 3 decimals" : "whole number", r->minimum,
			      r->maximum);
	}
}

/* The line begins with where the problem is and what becomes of it, unless that is the command just typed. */
static struct gmod_text *begin_complaint(struct complaint *c, const char *problem, struct slice item)
{
	struct gmod_text *l = &c->line;

	gmod_text_init(l, c->text, sizeof(c->text));
	if (!c->command)
		gmod_text_str(l, "GMOD_OPTIONS: ignored: ");
	gmod_text_str(l, problem);
	gmod_text_str(l, " \"");
	put_slice(l, item);
	gmod_text_str(l, "\"");
	return l;
}

static void end_complaint(struct complaint *c)
{
	c->count++;
	if (c->say)
		c->say(c->arg, c->text);
}

static void complain_unknown(struct complaint *c, struct slice key, bool has_value)
{
	struct gmod_text *l = begin_complaint(c, "unknown option", key);
	struct slice guess = nearest_key(key);

	if (guess.len > 0) {
		gmod_text_str(l, "; did you mean \"");
		put_slice(l, guess);
		gmod_text_str(l, "=...\"?");
	} else {
		gmod_text_str(l, c->command ? "; gmod --help=all lists them" : "; GMOD_OPTIONS=help=1 lists them");
		if (c->behind_text && !has_value)
			gmod_text_str(l, "; a value with a colon needs quotes");
	}
	end_complaint(c);
}

static void complain_no_value(struct complaint *c, const struct row *r)
{
	struct gmod_text *l = begin_complaint(c, "no value in", whole(r->name));

	gmod_text_str(l, "; write ");
	gmod_text_str(l, r->name);
	gmod_text_str(l, r->type == BOOL ? "=1 or =0" : "=VALUE");
	end_complaint(c);
}

static void complain_value(struct complaint *c, const struct row *r, struct slice value)
{
	struct gmod_text *l = begin_complaint(c, "bad value", value);

	gmod_text_str(l, " for ");
	gmod_text_str(l, r->name);
	gmod_text_str(l, ": expected ");
	put_range(l, r);
	if (memchr(value.at, ',', value.len) || memchr(value.at, ' ', value.len))
		gmod_text_str(l, "; options are separated by colons");
	end_complaint(c);
}

static struct slice without_blanks_behind(struct slice s)
{
	while (s.len > 0 && is_blank(s.at[s.len - 1]))
		s.len--;
	return s;
}

/*
 * The value that begins at `at`, quotes taken off, and *end set to the ':' or end of text behind it. Returns what is
 * wrong with its quotes, or NULL.
 */
static const char *take_value(const char *at, struct slice *value, const char **end)
{
	const char *close;

	if (*at != '"' && *at != '\'') {
		*value = (struct slice){at, strcspn(at, ":")};
		*end = at + value->len;
		*value = without_blanks_behind(*value);
		return NULL;
	}
	close = strchr(at + 1, *at);
	if (!close) {
		*end = at + strlen(at);
		return "a quote is not closed in the value of";
	}
	*value = (struct slice){at + 1, (size_t)(close - at - 1)};
	for (close++; is_blank(*close); close++)
		;
	*end = close + strcspn(close, ":");
	return *end == close ? NULL : "there is text behind the closing quote in the value of";
}

/* Handle the value that begins at `at`; returns the ':' or end of text behind it. */
static const char *parse_value(struct gmod_options *o, const struct row *r, const char *at, struct complaint *c)
{
	struct slice value;
	const char *end, *problem = take_value(at, &value, &end);

	c->behind_text = r->type == STRING;
	if (problem) {
		begin_complaint(c, problem, whole(r->name));
		end_complaint(c);
	} else if (!set(o, r, value)) {
		complain_value(c, r, value);
	}
	return end;
}

/* Handle the item that begins at `at`; returns the ':' or end of text behind it. */
static const char *parse_item(struct gmod_options *o, const char *at, struct complaint *c)
{
	struct slice key, ignored;
	const struct row *r;
	const char *end;

	for (; is_blank(*at); at++)
		;
	end = at + strcspn(at, "=:");
	key = (struct slice){at, (size_t)(end - at)};
	if (*end != '=')
		key = without_blanks_behind(key);
	r = find_row(key);
	if (r && *end == '=')
		return parse_value(o, r, end + 1, c);
	if (r)
		complain_no_value(c, r);
	else if (key.len > 0 || *end == '=')
		complain_unknown(c, key, *end == '=');
	c->behind_text = false;
	if (*end == '=')
		take_value(end + 1, &ignored, &end);
	return end;
}

static int parse(struct gmod_options *o, const char *text, struct complaint *c)
{
	while (text && *text) {
		text = parse_item(o, text, c);
		if (*text == ':')
			text++;
	}
	return c->count;
}

int gmod_options_parse(struct gmod_options *o, const char *text, void (*say)(void *, const char *line), void *arg)
{
	return parse(o, text, &(struct complaint){.say = say, .arg = arg});
}

int gmod_options_check(struct gmod_options *o, const char *text, void (*say)(void *, const char *line), void *arg)
{
	return parse(o, text, &(struct complaint){.say = say, .arg = arg, .command = true});
}

bool gmod_is_sanitized(void)
{
	return getenv("NV_SANITIZER_INJECTION_PORT_RANGE_BEGIN");
}

void gmod_options_defaults(struct gmod_options *o)
{
	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < ROWS; i++)
		set(o, &rows[i], whole(rows[i].fallback));
	o->enabled = !gmod_is_sanitized();
}

static void help_row(const struct row *r, void (*say)(void *, const char *), void *arg)
{
	char line[LINE_MAX_BYTES];
	struct gmod_text l;

	gmod_text_init(&l, line, sizeof(line));
	gmod_text_fmt(&l, "%s=%s  (", r->name, r->type == STRING && !*r->fallback ? "\"\"" : r->fallback);
	put_range(&l, r);
	gmod_text_str(&l, ")");
	say(arg, line);
	say(arg, r->help);
}

void gmod_options_help(void (*line)(void *, const char *), void *arg)
{
	line(arg, "GMOD_OPTIONS=\"key=value:key=value\"; a value in quotes may hold colons; the defaults are:");
	for (size_t i = 0; i < ROWS; i++)
		help_row(&rows[i], line, arg);
}
