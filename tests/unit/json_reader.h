/* A strict reader of JSON, for lines that are each one object. */
#pragma once

#include "tests/unit/test.h"

static inline const char *json_value(const char *s, int depth);

static inline const char *json_space(const char *s)
{
	return s + strspn(s, " \t\r");
}

static inline int is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Behind one character of a string, escaped or UTF-8; NULL if it is neither. */
static inline const char *json_char(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	int more = *u < 0x80 ? 0 : *u < 0xc2 ? -1 : *u < 0xe0 ? 1 : *u < 0xf0 ? 2 : *u < 0xf5 ? 3 : -1;

	if (*s == '\\') {
		if (s[1] != 'u')
			return s[1] && strchr("\"\\/bfnrt", s[1]) ? s + 2 : NULL;
		return is_hex(s[2]) && is_hex(s[3]) && is_hex(s[4]) && is_hex(s[5]) ? s + 6 : NULL;
	}
	if (*u < 0x20 || more < 0 || (*u == 0xe0 && u[1] < 0xa0) || (*u == 0xed && u[1] > 0x9f) ||
	    (*u == 0xf0 && u[1] < 0x90) || (*u == 0xf4 && u[1] > 0x8f))
		return NULL;
	for (int i = 1; i <= more; i++)
		if ((u[i] & 0xc0) != 0x80)
			return NULL;
	return s + 1 + more;
}

static inline const char *json_string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	while (s && *s && *s != '"')
		s = json_char(s);
	return s && *s ? s + 1 : NULL;
}

static inline const char *json_number(const char *s)
{
	s += *s == '-';
	if (*s == '0')
		return s + 1;
	return strspn(s, "0123456789") > 0 ? s + strspn(s, "0123456789") : NULL;
}

static inline const char *json_list(const char *s, char close, int depth)
{
	const char *after = json_space(s + 1);

	if (*after == close)
		return after + 1;
	do {
		s = json_space(s + 1);
		if (close == '}') {
			s = json_string(s);
			if (!s || *(s = json_space(s)) != ':')
				return NULL;
			s++;
		}
		s = json_value(s, depth + 1);
		if (!s)
			return NULL;
		s = json_space(s);
	} while (*s == ',');
	return *s == close ? s + 1 : NULL;
}

static inline const char *json_value(const char *s, int depth)
{
	static const char *const word[] = {"true", "false", "null"};

	s = json_space(s);
	if (depth > 20)
		return NULL;
	if (*s == '{' || *s == '[')
		return json_list(s, *s == '{' ? '}' : ']', depth);
	if (*s == '"')
		return json_string(s);
	for (int i = 0; i < 3; i++)
		if (strncmp(s, word[i], strlen(word[i])) == 0)
			return s + strlen(word[i]);
	return json_number(s);
}

/* Every line is one object; returns how many there are. */
static inline int json_lines(const char *s)
{
	int n = 0;

	for (; *s; s++, n++) {
		const char *end = *s == '{' ? json_value(s, 0) : NULL;

		if (!end || *end != '\n') {
			print_error("not JSON: %.300s\n", s);
			return -1;
		}
		s = end;
	}
	return n;
}
