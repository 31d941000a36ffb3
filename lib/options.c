#include "lib/options.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 512
#define WORD_MAX 64 /* longer keys and words are compared by their first WORD_MAX bytes */
#define HELP_COLUMN 4
#define HELP_WIDTH 96

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
#include "lib/options.def"
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
};

/* An append-only line; what does not fit is dropped. Bytes that a terminal could take as a command become \xNN. */
struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
};

static void put(struct line *l, const char *s)
{
	size_t n = strlen(s), room = sizeof(l->text) - 1 - l->len;

	if (n > room)
		n = room;
	memcpy(l->text + l->len, s, n);
	l->len += n;
	l->text[l->len] = '\0';
}

static void put_number(struct line *l, unsigned value)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", value);
	put(l, digits);
}

static void put_slice(struct line *l, struct slice s)
{
	char one[8];

	for (size_t i = 0; i < s.len && i < 80; i++) {
		unsigned char c = s.at[i];

		snprintf(one, sizeof(one), c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", c);
		put(l, one);
	}
	if (s.len > 80)
		put(l, "...");
}

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Levenshtein's distance, by one row of the matrix. */
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

			row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a.at[i - 1] != b.at[j - 1]));
			diagonal = above;
		}
	}
	return row[lb];
}

static struct slice whole(const char *s)
{
	return (struct slice){s, strlen(s)};
}

static bool same(struct slice a, struct slice b)
{
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
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
		if (same(whole(rows[i].name), key))
			return &rows[i];
	return NULL;
}

static const struct row *nearest_row(struct slice key)
{
	const struct row *best = &rows[0];

	for (size_t i = 1; i < ROWS; i++)
		if (distance(whole(rows[i].name), key) < distance(whole(best->name), key))
			best = &rows[i];
	return best;
}

static struct slice nearest_choice(const struct row *r, struct slice value)
{
	const char *rest = r->choices;
	struct slice best = next_word(&rest);

	for (struct slice word = next_word(&rest); word.len > 0; word = next_word(&rest))
		if (distance(word, value) < distance(best, value))
			best = word;
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
	if (r->type == BOOL)
		*(bool *)member = n;
	else
		*(unsigned *)member = n;
	return true;
}

static bool set_choice(int *member, const struct row *r, struct slice value)
{
	const char *rest = r->choices;
	int position = 0;

	for (struct slice word = next_word(&rest); word.len > 0; word = next_word(&rest), position++) {
		if (!same(word, value))
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

	switch (r->type) {
	case CHOICE:
		return set_choice(member, r, value);
	case STRING:
		return set_string(member, value);
	default:
		return set_number(member, r, value);
	}
}

static void put_choices(struct line *l, const struct row *r)
{
	const char *rest = r->choices;
	const char *before = "";

	for (struct slice word = next_word(&rest); word.len > 0; word = next_word(&rest), before = "|") {
		put(l, before);
		put_slice(l, word);
	}
}

/* What a value of this row may be: "0 or 1", "auto|unified|native", "a number from 1 to 100". */
static void put_range(struct line *l, const struct row *r)
{
	switch (r->type) {
	case BOOL:
		put(l, "0 or 1");
		return;
	case CHOICE:
		put_choices(l, r);
		return;
	case STRING:
		put(l, "at most ");
		put_number(l, GMOD_OPTION_STRING_MAX - 1);
		put(l, " bytes");
		return;
	default:
		put(l, r->type == PERCENT ? "a number with at most 3 decimals from " : "a whole number from ");
		put_number(l, r->minimum);
		put(l, " to ");
		put_number(l, r->maximum);
	}
}

static void complain(struct complaint *c, const struct line *l)
{
	c->count++;
	if (c->say)
		c->say(c->arg, l->text);
}

/* One line "GMOD_OPTIONS: PROBLEM "ITEM"; did you mean "NEAREST"?". */
static void complain_key(struct complaint *c, const char *problem, struct slice item, struct slice key)
{
	struct line l = {.len = 0};

	put(&l, "GMOD_OPTIONS: ");
	put(&l, problem);
	put(&l, " \"");
	put_slice(&l, item);
	put(&l, "\"; did you mean \"");
	put(&l, nearest_row(key)->name);
	put(&l, "=...\"?");
	complain(c, &l);
}

static void complain_value(struct complaint *c, const struct row *r, struct slice value)
{
	struct line l = {.len = 0};

	put(&l, "GMOD_OPTIONS: bad value \"");
	put_slice(&l, value);
	put(&l, "\" for ");
	put(&l, r->name);
	put(&l, ": expected ");
	put_range(&l, r);
	if (r->type == CHOICE) {
		put(&l, "; did you mean \"");
		put_slice(&l, nearest_choice(r, value));
		put(&l, "\"?");
	}
	complain(c, &l);
}

static void complain_quote(struct complaint *c, struct slice key, const char *problem)
{
	struct line l = {.len = 0};

	put(&l, "GMOD_OPTIONS: ");
	put(&l, problem);
	put(&l, " in the value of ");
	put_slice(&l, key);
	complain(c, &l);
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
		return NULL;
	}
	close = strchr(at + 1, *at);
	if (!close) {
		*end = at + strlen(at);
		return "a quote is not closed";
	}
	*value = (struct slice){at + 1, (size_t)(close - at - 1)};
	*end = close + 1 + strcspn(close + 1, ":");
	return *end == close + 1 ? NULL : "there is text behind the closing quote";
}

/* Handle the item that begins at `at`; returns the ':' or end of text behind it. */
static const char *parse_item(struct gmod_options *o, const char *at, struct complaint *c)
{
	struct slice key = {at, strcspn(at, "=:")}, value;
	const struct row *r = find_row(key);
	const char *end = at + key.len, *problem;

	if (*end != '=') {
		if (key.len > 0)
			complain_key(c, "no value in", key, key);
		return end;
	}
	problem = take_value(end + 1, &value, &end);
	if (!r)
		complain_key(c, "unknown option", key, key);
	else if (problem)
		complain_quote(c, key, problem);
	else if (!set(o, r, value))
		complain_value(c, r, value);
	return end;
}

int gmod_options_parse(struct gmod_options *o, const char *text, void (*say)(void *, const char *line), void *arg)
{
	struct complaint c = {say, arg, 0};

	while (text && *text) {
		text = parse_item(o, text, &c);
		if (*text == ':')
			text++;
	}
	return c.count;
}

void gmod_options_defaults(struct gmod_options *o)
{
	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < ROWS; i++)
		set(o, &rows[i], whole(rows[i].fallback));
}

/* The next piece of a help text that fits a line, broken at a space. */
static struct slice next_wrapped(const char **rest)
{
	struct slice piece;

	*rest += strspn(*rest, " ");
	piece = whole(*rest);
	if (piece.len > HELP_WIDTH - HELP_COLUMN) {
		piece.len = HELP_WIDTH - HELP_COLUMN;
		while (piece.len > 1 && piece.at[piece.len] != ' ')
			piece.len--;
	}
	*rest += piece.len;
	return piece;
}

static void help_row(const struct row *r, void (*say)(void *, const char *), void *arg)
{
	struct line l = {.len = 0};
	const char *rest = r->help;

	put(&l, r->name);
	put(&l, "=");
	put(&l, r->type == STRING && !*r->fallback ? "\"\"" : r->fallback);
	put(&l, "  (");
	put_range(&l, r);
	put(&l, ")");
	say(arg, l.text);
	while (*rest) {
		struct slice piece = next_wrapped(&rest);

		snprintf(l.text, sizeof(l.text), "%*s%.*s", HELP_COLUMN, "", (int)piece.len, piece.at);
		say(arg, l.text);
	}
}

void gmod_options_help(void (*line)(void *, const char *), void *arg)
{
	line(arg, "GMOD_OPTIONS=\"key=value:key=value\"; a value in quotes may hold colons; the defaults are:");
	for (size_t i = 0; i < ROWS; i++)
		help_row(&rows[i], line, arg);
}
