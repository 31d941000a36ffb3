#include "lib/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void gmod_text_init(struct gmod_text *t, char *buffer, size_t cap)
{
	*t = (struct gmod_text){buffer, 0, cap, false};
	buffer[0] = '\0';
}

void gmod_text_bytes(struct gmod_text *t, const char *s, size_t n)
{
	size_t room = t->cap - 1 - t->len;

	if (t->full)
		return;
	if (n > room) {
		n = room;
		t->full = true;
	}
	memcpy(t->at + t->len, s, n);
	t->len += n;
	t->at[t->len] = '\0';
}

void gmod_text_str(struct gmod_text *t, const char *s)
{
	gmod_text_bytes(t, s, strlen(s));
}

/* glibc's vsnprintf allocates only for floats, wide characters and huge widths, none of which the contract allows. */
void gmod_text_fmt(struct gmod_text *t, const char *format, ...)
{
	char piece[256];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(piece, sizeof(piece), format, args);
	va_end(args);
	if (n > 0)
		gmod_text_str(t, piece);
}

/* Append bytes that make sense only together; none of them if they do not fit. */
static bool append_unit(struct gmod_text *t, const char *s, size_t n)
{
	if (t->full || n > t->cap - 1 - t->len) {
		t->full = true;
		return false;
	}
	gmod_text_bytes(t, s, n);
	return true;
}

void gmod_text_mark_cut(struct gmod_text *t)
{
	if (!t->full)
		return;
	t->len = t->len > 3 ? t->len - 3 : 0;
	while (t->len > 0 && ((unsigned char)t->at[t->len] & 0xc0) == 0x80) /* not inside a character */
		t->len--;
	t->full = false;
	gmod_text_str(t, "...");
}

/* The character at s, at most n > 0 bytes away from its end: its length in bytes, 0 if it is not well-formed UTF-8. */
static size_t decode_utf8(const unsigned char *s, size_t n, uint32_t *code)
{
	static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0x80             ? 1
		     : (s[0] & 0xe0) == 0xc0 ? 2
		     : (s[0] & 0xf0) == 0xe0 ? 3
		     : (s[0] & 0xf8) == 0xf0 ? 4
					     : 0;

	if (len == 0 || len > n)
		return 0;
	*code = len == 1 ? s[0] : s[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < lowest[len] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return len;
}

/* Characters that a reader would not see, or that change how the rest of the line is shown. */
static bool is_deceptive(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} range[] = {
	    {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},        {0x34f, 0x34f},   {0x61c, 0x61c},
	    {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},    {0x200b, 0x200f}, {0x2028, 0x202e},
	    {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},    {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
	    {0xfff0, 0xffff}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
	};

	for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++)
		if (c >= range[i].first && c <= range[i].last)
			return true;
	return false;
}

static bool append_hex_bytes(struct gmod_text *t, const char *backslash, const unsigned char *s, size_t n)
{
	char out[4 * 5 + 1];
	int len = 0;

	for (size_t i = 0; i < n; i++)
		len += snprintf(out + len, sizeof(out) - len, "%sx%02x", backslash, s[i]);
	return append_unit(t, out, len);
}

static bool append_escaped(struct gmod_text *t, const unsigned char *s, size_t len, uint32_t code)
{
	if (len > 0 && !is_deceptive(code))
		return append_unit(t, (const char *)s, len);
	return append_hex_bytes(t, "\\", s, len > 0 ? len : 1);
}

/* Each character, of len bytes, 0 for a byte that is none; false when one has no room. */
static bool append_chars(struct gmod_text *t, const char *string, size_t max,
			 bool (*append)(struct gmod_text *t, const unsigned char *s, size_t len, uint32_t code))
{
	const unsigned char *s = (const unsigned char *)string;
	size_t n = strnlen(string, max + 1), len;
	uint32_t code = 0;

	for (size_t i = 0; i < n && i<max; i += len> 0 ? len : 1) {
		len = decode_utf8(s + i, n - i, &code);
		if (!append(t, s + i, len, code))
			return false;
	}
	gmod_text_str(t, n > max ? "..." : "");
	return true;
}

void gmod_text_escaped(struct gmod_text *t, const char *string, size_t max)
{
	append_chars(t, string ? string : "?", max, append_escaped);
}

static bool append_json_escape(struct gmod_text *t, uint32_t code)
{
	char out[16];
	int len;

	if (code == '"' || code == '\\')
		len = snprintf(out, sizeof(out), "\\%c", (char)code);
	else if (code < 0x10000)
		len = snprintf(out, sizeof(out), "\\u%04x", code);
	else
		len = snprintf(out, sizeof(out), "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
	return append_unit(t, out, len);
}

static bool append_json_char(struct gmod_text *t, const unsigned char *s, size_t len, uint32_t code)
{
	if (len == 0)
		return append_hex_bytes(t, "\\\\", s, 1);
	if (code == '"' || code == '\\' || is_deceptive(code))
		return append_json_escape(t, code);
	return append_unit(t, (const char *)s, len);
}

void gmod_text_json(struct gmod_text *t, const char *string, size_t max)
{
	gmod_text_str(t, string ? "\"" : "null");
	if (string && append_chars(t, string, max, append_json_char))
		gmod_text_str(t, "\"");
}

void gmod_text_clock(struct gmod_text *t, uint64_t ns)
{
	unsigned second = ns / 1000000000 % 86400;

	gmod_text_fmt(t, "%02u:%02u:%02u.%06u", second / 3600, second / 60 % 60, second % 60,
		      (unsigned)(ns / 1000 % 1000000));
}

/* The Gregorian date of a day counted from 1970-01-01: years begin in March, so that leap days come last. */
void gmod_text_date(struct gmod_text *t, uint64_t ns, const char *between)
{
	uint64_t day = ns / 86400000000000ull + 719468, era = day / 146097, of_era = day % 146097;
	uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
	unsigned mday = of_year - (153 * month + 2) / 5 + 1;

	month = month < 10 ? month + 3 : month - 9;
	year += era * 400 + (month <= 2);
	gmod_text_fmt(t, "%04u%s%02u%s%02u", (unsigned)year, between, month, between, mday);
}

void gmod_text_stamp(struct gmod_text *t, uint64_t ns)
{
	if (ns == 0) {
		gmod_text_str(t, "null");
		return;
	}
	gmod_text_str(t, "\"");
	gmod_text_date(t, ns, "-");
	gmod_text_str(t, "T");
	gmod_text_clock(t, ns);
	gmod_text_fmt(t, "%03uZ\"", (unsigned)(ns % 1000));
}

void gmod_text_size(struct gmod_text *t, uint64_t bytes)
{
	static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	int u = -1;

	for (uint64_t rest = bytes; rest >= 1024; rest >>= 10)
		u++;
	if (u < 0)
		gmod_text_fmt(t, "%llu B", (unsigned long long)bytes);
	else
		gmod_text_fmt(t, "%llu.%llu %s", (unsigned long long)(bytes >> (10 * (u + 1))),
			      (unsigned long long)((bytes >> (10 * u) & 1023) * 10 / 1024), unit[u]);
}

const char *gmod_error_words(int error)
{
	static const char *const words[] = {
	    [EPERM] = "Operation not permitted",
	    [ENOENT] = "No such file or directory",
	    [EIO] = "Input/output error",
	    [ENXIO] = "No such device or address",
	    [EAGAIN] = "Resource temporarily unavailable",
	    [ENOMEM] = "Cannot allocate memory",
	    [EACCES] = "Permission denied",
	    [EBUSY] = "Device or resource busy",
	    [EEXIST] = "File exists",
	    [ENODEV] = "No such device",
	    [ENOTDIR] = "Not a directory",
	    [EISDIR] = "Is a directory",
	    [EINVAL] = "Invalid argument",
	    [ENFILE] = "Too many open files in system",
	    [EMFILE] = "Too many open files",
	    [ETXTBSY] = "Text file busy",
	    [EFBIG] = "File too large",
	    [ENOSPC] = "No space left on device",
	    [EROFS] = "Read-only file system",
	    [EPIPE] = "Broken pipe",
	    [ENAMETOOLONG] = "File name too long",
	    [ELOOP] = "Too many levels of symbolic links",
	    [EDQUOT] = "Disk quota exceeded",
	    [ESTALE] = "Stale file handle",
	};
	bool known = error > 0 && (size_t)error < sizeof(words) / sizeof(*words) && words[error];

	return known ? words[error] : "the system refuses it";
}
