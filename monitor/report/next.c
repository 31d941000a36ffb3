#include "monitor/report/next.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_BYTES 1800

typedef unsigned long long ull;

static bool is_shell_safe(const char *s)
{
	return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")] == '\0';
}

static bool is_printable_ascii(const char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			return false;
	return true;
}

/* One word as a shell reads it back: plain, 'quoted', or $'with octal' where it would not be safe to look at. */
static void add_shell_word(struct gmod_text *t, const char *s)
{
	bool plain = is_printable_ascii(s);

	if (is_shell_safe(s)) {
		gmod_text_str(t, s);
		return;
	}
	gmod_text_str(t, plain ? "'" : "$'");
	for (; *s; s++) {
		if (plain && *s == '\'')
			gmod_text_str(t, "'\\''");
		else if (plain || (*s >= ' ' && *s <= '~' && *s != '\'' && *s != '\\'))
			gmod_text_bytes(t, s, 1);
		else
			gmod_text_fmt(t, "\\%03o", (unsigned char)*s);
	}
	gmod_text_str(t, "'");
}

/* This process's arguments, each ended by '\0'; returns their length. *cut: there are more. */
static size_t read_arguments(char *buffer, size_t cap, bool *cut)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0)
		return 0;
	while (len < cap - 1 && ((n = read(fd, buffer + len, cap - 1 - len)) > 0 || (n < 0 && errno == EINTR)))
		len += n > 0 ? (size_t)n : 0;
	close(fd);
	*cut = len == cap - 1;
	buffer[len] = '\0';
	return len;
}

/* The command that started this process, quoted; " ..." stands for what is too long to repeat. */
static void add_command(struct gmod_text *t)
{
	char arguments[COMMAND_BYTES];
	bool cut = false;
	size_t len = read_arguments(arguments, sizeof(arguments), &cut);

	if (len == 0)
		gmod_text_str(t, " PROGRAM");
	for (const char *s = arguments; s < arguments + len; s += strlen(s) + 1) {
		size_t before = t->len;

		gmod_text_str(t, " ");
		add_shell_word(t, s);
		if (t->full || t->cap - t->len < 8 || (cut && s + strlen(s) >= arguments + len)) {
			t->len = before;
			t->full = false;
			gmod_text_str(t, " ...");
			return;
		}
	}
}

/* Addresses differ from run to run: what stays is where the bytes lie in the buffer, and who allocates it. */
static void next_watchpoint(const struct gmod_finding *f, const char *site, struct gmod_text *t)
{
	bool over = f->class == GMOD_HEAP_BUFFER_OVERFLOW;
	ull from_base = (ull)f->offset + (over ? f->buffer.size : 0);
	bool before = (int64_t)from_base < 0;

	gmod_text_fmt(t, "look for a write by the CPU, here to 0x%llx; in another run break where ",
		      f->buffer.base + from_base);
	gmod_text_str(t, strcmp(site, "-") == 0 ? "the program" : site);
	gmod_text_fmt(t, " has just allocated the buffer, and then watch *(char *)(BUFFER %c %llu): gdb --args",
		      before ? '-' : '+', before ? -from_base : from_base);
	add_command(t);
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
	for (const char *begin, *end = readable + strlen(readable);; end = begin - 2) {
		for (begin = end; begin > readable && begin[-1] != ':'; begin--)
			;
		*len = (size_t)(end - begin);
		if (is_identifier(begin, *len))
			return begin;
		if (begin < readable + 2)
			return NULL;
	}
}

/*
 * The suspects' names, each once, as options that let compute-sanitizer look at these kernels alone; none where it
 * might then not look at the culprit. They are part of the mangled names, so a few more kernels than these may match.
 */
static void add_kernel_names(struct gmod_text *t, const struct gmod_finding *f, gmod_short_names kernels)
{
	const char *kernel[GMOD_SUSPECTS_MAX];
	size_t len[GMOD_SUSPECTS_MAX];

	if (f->suspects_omitted || f->launches_lost || f->suspect_count > GMOD_SUSPECTS_MAX)
		return;
	for (uint32_t i = 0; i < f->suspect_count; i++)
		if (!(kernel[i] = gmod_kernel_substring(kernels[i], &len[i])))
			return;
	for (uint32_t i = 0, same; i < f->suspect_count; i++) {
		for (same = 0; len[same] != len[i] || memcmp(kernel[same], kernel[i], len[i]) != 0; same++)
			;
		if (same < i)
			continue;
		gmod_text_str(t, " --kernel-name kernel_substring=");
		gmod_text_bytes(t, kernel[i], len[i]);
	}
}

static void next_memcheck(const struct gmod_finding *f, const char *site, gmod_short_names kernels, struct gmod_text *t)
{
	if (f->suspect_count == 0 && f->launches_lost == 0 && gmod_cpu_may_write(f)) {
		next_watchpoint(f, site, t);
		return;
	}
	gmod_text_str(t, "compute-sanitizer --tool memcheck");
	add_kernel_names(t, f, kernels);
	add_command(t);
}

static void next_invalid_free(const struct gmod_finding *f, struct gmod_text *t)
{
	if (f->buffer.base)
		gmod_text_fmt(t, "free the address that the allocation returned, 0x%llx", (ull)f->buffer.base);
	else
		gmod_text_str(
		    t, "look where the pointer comes from: uninitialised, of another process or library, or of a "
		       "pool that has a free function of its own");
}

void gmod_next_step(const struct gmod_finding *f, const char *site, gmod_short_names kernels, struct gmod_text *t)
{
	switch (f->class) {
	case GMOD_DOUBLE_FREE:
		gmod_text_str(
		    t, "let one of the two places own the buffer; the address may belong to another buffer by now");
		break;
	case GMOD_INVALID_FREE:
		next_invalid_free(f, t);
		break;
	case GMOD_API_OUT_OF_BOUNDS:
		gmod_text_str(t, "compare the size given to ");
		gmod_text_escaped(t, gmod_entry_point(f), 100);
		gmod_text_str(t, " with the allocation's; the driver refused the call, so nothing was written");
		break;
	case GMOD_LEAK:
		gmod_text_str(t,
			      "free it, or put a line leak:FUNCTION into the file of GMOD_OPTIONS=suppressions=FILE");
		break;
	default:
		next_memcheck(f, site, kernels, t);
	}
}
