#include "monitor/report/demangle.h"

#include <string.h>

#include "lib/base/text.h"

#define NEST_MAX 128 /* of brackets in a mangled name */

/*
 * A walk through a mangled name. Brackets (template arguments, nested names, ...) are skipped without being
 * understood: `open` holds the letters of those not closed yet, and no token is read past `end`.
 */
struct mangled {
	const char *at, *end;
	unsigned depth;
	char open[NEST_MAX];
};

static char peek(const struct mangled *m)
{
	return m->at < m->end ? *m->at : '\0';
}

static bool accept(struct mangled *m, char c)
{
	if (m->at >= m->end || *m->at != c)
		return false;
	m->at++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The rest of 12_, of which there may be the end alone. */
static bool skip_number(struct mangled *m)
{
	while (is_digit(peek(m)))
		m->at++;
	return accept(m, '_');
}

/* <length><identifier>, the identifier's place given in *name. */
static bool take_source_name(struct mangled *m, const char **name, size_t *len)
{
	size_t n = 0;

	while (is_digit(peek(m)) && n < 1000000)
		n = n * 10 + (size_t)(*m->at++ - '0');
	if (n > (size_t)(m->end - m->at))
		return false;
	*name = m->at;
	*len = n;
	m->at += n;
	return true;
}

/* The rest of S_, S1A_, T_, T0_: a back reference. */
static bool skip_sequence(struct mangled *m)
{
	while (is_digit(peek(m)) || (peek(m) >= 'A' && peek(m) <= 'Z'))
		m->at++;
	return accept(m, '_');
}

static bool open_bracket(struct mangled *m, char kind)
{
	if (m->depth == NEST_MAX)
		return false;
	m->open[m->depth++] = kind;
	return true;
}

/* After 'D': an expression up to 'E' (decltype), or one letter more. */
static bool skip_d(struct mangled *m)
{
	char c = peek(m);

	if (m->at < m->end)
		m->at++;
	return c == 't' || c == 'T' ? open_bracket(m, c) : c != '\0';
}

/* After 'U': a lambda's parameters up to 'E', an unnamed type, or a vendor's qualifier (whose name comes next). */
static bool skip_u(struct mangled *m)
{
	if (accept(m, 'l'))
		return open_bracket(m, 'l');
	return !accept(m, 't') || skip_number(m);
}

static bool close_bracket(struct mangled *m)
{
	return m->open[--m->depth] != 'l' || skip_number(m); /* {lambda}: its number follows */
}

/* After '_': a discriminator _4 or __12_, else nothing. */
static bool skip_discriminator(struct mangled *m)
{
	if (accept(m, '_'))
		return skip_number(m);
	if (is_digit(peek(m)))
		m->at++;
	return true;
}

/*
 * One token inside brackets. *type is set when it may have been the whole of a type, which matters in a literal
 * (L<type><value>E): its value has digits that are no lengths.
 */
static bool skip_token(struct mangled *m, bool *type)
{
	const char *name;
	size_t len;
	char c = peek(m);

	*type = !strchr("PRKVOA_", c);
	if (is_digit(c))
		return take_source_name(m, &name, &len);
	m->at++;
	switch (c) {
	case 'E':
		return close_bracket(m);
	case 'N':
	case 'I':
	case 'J':
	case 'X':
	case 'F':
	case 'Z':
		*type = false;
		return open_bracket(m, c);
	case 'L':
		*type = false;
		if (m->end - m->at >= 2 && m->at[0] == '_' && m->at[1] == 'Z') {
			m->at += 2;
			return open_bracket(m, 'Z');
		}
		return open_bracket(m, 'L');
	case 'S':
		if (!strchr("tabsiod", peek(m)) || peek(m) == '\0')
			return skip_sequence(m);
		*type = *m->at++ != 't';
		return true;
	case 'T':
		return accept(m, 's') || accept(m, 'u') || accept(m, 'e') || skip_sequence(m);
	case 'D':
		return skip_d(m);
	case 'U':
		return skip_u(m);
	case 'C':
		if (is_digit(peek(m)))
			m->at++;
		return true;
	case 'A':
		skip_number(m);
		return true;
	case '_':
		return skip_discriminator(m);
	default:
		return c != '\0';
	}
}

/* Behind an opening letter: skip to behind its 'E'. */
static bool skip_brackets(struct mangled *m, char kind)
{
	bool type;

	m->depth = 0;
	if (!open_bracket(m, kind))
		return false;
	while (m->depth > 0) {
		if (m->at >= m->end || !skip_token(m, &type))
			return false;
		if (type && m->depth > 0 && m->open[m->depth - 1] == 'L' && peek(m) != 'I') {
			m->at = memchr(m->at, 'E', (size_t)(m->end - m->at));
			if (!m->at)
				return false;
			m->at++;
			m->depth--;
		}
	}
	return true;
}

/* A name in the making: what is readable of it, and the last identifier, which constructors repeat. */
struct readable {
	struct gmod_text text;
	const char *last;
	size_t last_len;
	bool python; /* numba has mangled it: its first ABI tag is a version, v1 */
};

static void add_part(struct readable *r, const char *prefix, const char *s, size_t n)
{
	if (r->text.len > 0)
		gmod_text_str(&r->text, "::");
	gmod_text_str(&r->text, prefix);
	gmod_text_bytes(&r->text, s, n);
}

static void add_word(struct readable *r, const char *word)
{
	add_part(r, "", word, strlen(word));
}

static bool add_identifier(struct mangled *m, struct readable *r)
{
	const char *s;
	size_t n;

	if (!take_source_name(m, &s, &n) || n == 0)
		return false;
	r->last = s;
	r->last_len = n;
	if (n >= 10 && (!memcmp(s, "_GLOBAL__N", 10) || !memcmp(s, "_INTERNAL_", 10))) /* the second is nvcc's */
		add_word(r, "(anonymous namespace)");
	else
		add_part(r, "", s, n);
	return true;
}

static bool add_standard(struct mangled *m, struct readable *r)
{
	static const char *const word[] = {"tstd",          "astd::allocator", "bstd::basic_string", "sstd::string",
					   "istd::istream", "ostd::ostream",   "dstd::iostream"};

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		if (!accept(m, word[i][0]))
			continue;
		add_word(r, word[i] + 1);
		return true;
	}
	return false;
}

/* Constructors and destructors repeat the class's name: C1, C2, D0, D1 ... */
static bool add_structor(struct mangled *m, struct readable *r)
{
	bool destructor = *m->at++ == 'D';

	if (!r->last || !is_digit(peek(m)))
		return false;
	m->at++;
	add_part(r, destructor ? "~" : "", r->last, r->last_len);
	return true;
}

/* One component of a name: an identifier, operator(), ... or something that is left out, like template arguments. */
static bool add_component(struct mangled *m, struct readable *r)
{
	const char *tag;
	size_t len;

	if (accept(m, 'L')) /* internal linkage */
		return is_digit(peek(m)) && add_identifier(m, r);
	if (accept(m, 'I'))
		return r->text.len > 0 && skip_brackets(m, 'I');
	if (accept(m, 'B')) { /* an ABI tag */
		if (!is_digit(peek(m)) || !take_source_name(m, &tag, &len))
			return false;
		r->python |= len > 1 && tag[0] == 'v' && is_digit(tag[1]);
		return true;
	}
	if (accept(m, 'S'))
		return add_standard(m, r);
	if (accept(m, 'U')) {
		add_word(r, peek(m) == 'l' ? "{lambda}" : "{unnamed}");
		if (!accept(m, 'l'))
			return peek(m) == 't' && skip_u(m);
		return skip_brackets(m, 'l');
	}
	if (is_digit(peek(m)))
		return add_identifier(m, r);
	if (peek(m) == 'C' || peek(m) == 'D')
		return add_structor(m, r);
	if (!accept(m, 'c') || !accept(m, 'l'))
		return false;
	add_word(r, "operator()"); /* of lambdas; functions of no other operator launch or allocate */
	return true;
}

static bool add_nested(struct mangled *m, struct readable *r)
{
	while (peek(m) && strchr("rVKRO", peek(m)))
		m->at++;
	while (!accept(m, 'E'))
		if (m->at >= m->end || !add_component(m, r))
			return false;
	return r->text.len > 0;
}

static bool add_unscoped(struct mangled *m, struct readable *r)
{
	bool in_std = accept(m, 'S');

	if (in_std && !add_standard(m, r))
		return false;
	if (!add_component(m, r))
		return false;
	while (peek(m) == 'B' || peek(m) == 'I')
		if (!add_component(m, r))
			return false;
	return true;
}

/* Z <function> E <entity>: something inside a function. Entities nest, functions too, but not deeply in practice. */
static bool add_name(struct mangled *m, struct readable *r)
{
	unsigned locals = 0;

	while (accept(m, 'Z'))
		if (++locals > 4)
			return false;
	for (;;) {
		if (!(accept(m, 'N') ? add_nested(m, r) : add_unscoped(m, r)))
			return false;
		if (locals-- == 0)
			return true;
		if (!skip_brackets(m, 'Z'))
			return false;
		if (peek(m) == 's') /* a string literal of the function */
			return true;
	}
}

/* What numba puts into a name that Python does not have there, each with what that has. */
static void make_python(char *name)
{
	static const char *const there[] = {"cudapy::", "__main__::", "::", "_3c", "_3e"}, *const here[] = {"", "", ".",
													    "<", ">"};
	char *to = name;

	while (*name) {
		size_t i = 0;

		while (i < 5 && strncmp(name, there[i], strlen(there[i])) != 0)
			i++;
		*to = i < 5 ? here[i][0] : *name;
		to += *to != '\0';
		name += i < 5 ? strlen(there[i]) : 1;
	}
	*to = '\0';
}

void gmod_short_name(const char *mangled, char *out, size_t cap)
{
	size_t len = strlen(mangled);
	struct mangled m = {mangled, mangled + len, 0, {0}};
	struct readable r = {.last = NULL};

	gmod_text_init(&r.text, out, cap);
	if (accept(&m, '_') && accept(&m, 'Z') && add_name(&m, &r)) {
		if (r.python)
			make_python(out);
		return;
	}
	gmod_text_init(&r.text, out, cap);
	gmod_text_bytes(&r.text, mangled, len);
}

static bool is_identifier(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] != '_' && !(s[i] >= '0' && s[i] <= '9') && !((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z'))
			return false;
	return n > 0;
}

const char *gmod_kernel_substring(const char *readable, size_t *len)
{
	for (const char *begin, *end = readable + strlen(readable);; end = begin - 1) {
		for (begin = end; begin > readable && !strchr(":.", begin[-1]); begin--)
			;
		*len = (size_t)(end - begin);
		if (is_identifier(begin, *len))
			return begin;
		if (begin == readable)
			return NULL;
	}
}
