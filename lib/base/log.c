#include "lib/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/gmod.h"
#include "lib/base/counters.h"
#include "lib/base/lock.h"
#include "lib/base/log_file.h"
#include "lib/base/log_stderr.h"
#include "lib/base/origin.h"

#define LINE_BYTES 2048

/*
 * What the log knows of itself. json, plain and verbosity are set by gmod_log_open() and read-only afterwards. The
 * holder of the lock writes, and what lib/base/log_file.c and lib/base/log_stderr.c know belongs to it too. A thread
 * that does not get it goes on as its holder (who may be gone: fork copies a held lock): then two threads may write at
 * once, which costs order, and at worst a descriptor, but no memory.
 */
static struct {
	atomic_flag lock;
	bool json, plain;
	unsigned verbosity;
	_Atomic bool refusal_said;
	_Atomic uint64_t lost_told; /* of gmod_counters.lost_lines */
} sink = {.lock = ATOMIC_FLAG_INIT};

/* ---- writing ---- */

void gmod_log_event(struct gmod_text *t, const char *event)
{
	gmod_text_fmt(t, "{\"schema\":\"gmod-report-2\",\"event\":\"%s\",\"pid\":%d,\"host\":", event, (int)getpid());
	gmod_text_json(t, gmod_origin.host, 64);
	gmod_text_fmt(t, ",\"rank\":%s,\"version\":\"" GMOD_VERSION "\"",
		      *gmod_origin.rank ? gmod_origin.rank : "null");
}

/* Say once why the file does not serve. Goes to stderr whatever the log's format: the log is what does not work. */
static void say_refusal(const char *why)
{
	char line[LINE_BYTES];
	struct gmod_text t;

	if (atomic_exchange_explicit(&sink.refusal_said, true, memory_order_relaxed))
		return;
	gmod_text_init(&t, line, sizeof(line));
	if (sink.json) {
		gmod_log_event(&t, "log-refused");
		gmod_text_str(&t, ",\"path\":");
	} else
		gmod_text_fmt(&t, "==%d==GMOD: cannot write log_path ", (int)getpid());
	(sink.json ? gmod_text_json : gmod_text_escaped)(&t, gmod_log_file_path(), 256);
	gmod_text_str(&t, sink.json ? ",\"reason\":\"" : ": ");
	gmod_text_str(&t, why);
	gmod_text_str(&t, sink.json ? "\"}\n" : "; reports go to stderr\n");
	if (!gmod_stderr_write(line, t.len))
		gmod_count(&gmod_counters.lost_lines, 1);
}

/* A piece that the file does not take goes to stderr: torn in two places is better than lost. false: see errno. */
static bool write_somewhere(const char *s, size_t n)
{
	const char *why;

	if (gmod_log_file_path()[0]) {
		why = gmod_log_file_write(s, n);
		if (!why)
			return true;
		say_refusal(why);
	}
	return gmod_stderr_write(s, n);
}

static void tell_losses(void)
{
	uint64_t lost = atomic_load_explicit(&gmod_counters.lost_lines, memory_order_relaxed);
	uint64_t news = lost - atomic_load_explicit(&sink.lost_told, memory_order_relaxed);
	char line[512];
	struct gmod_text t;

	if (news == 0)
		return;
	gmod_text_init(&t, line, sizeof(line));
	if (sink.json) {
		gmod_log_event(&t, "lost");
		gmod_text_fmt(&t, ",\"lines\":%llu}\n", (unsigned long long)news);
	} else
		gmod_text_fmt(&t, "==%d==GMOD: %llu line%s before this one could not be written\n", (int)getpid(),
			      (unsigned long long)news, news == 1 ? "" : "s");
	if (write_somewhere(line, t.len))
		atomic_store_explicit(&sink.lost_told, lost, memory_order_relaxed);
}

static void count_lost(const char *text, size_t len)
{
	const char *end = text + len;

	for (; (text = memchr(text, '\n', (size_t)(end - text))); text++)
		gmod_count(&gmod_counters.lost_lines, 1);
}

bool gmod_log_try(const char *text, size_t len)
{
	int saved = errno;
	struct gmod_scope scope;
	bool later;

	gmod_scope_begin(&scope);
	gmod_lock(&sink.lock);
	tell_losses();
	later = !write_somewhere(text, len);
	if (later && errno != EAGAIN) {
		count_lost(text, len);
		later = false;
	}
	gmod_unlock(&sink.lock);
	gmod_scope_end(&scope);
	errno = saved;
	return !later;
}

void gmod_log_lines(const char *text, size_t len)
{
	if (!gmod_log_try(text, len))
		count_lost(text, len);
}

bool gmod_log_json(void)
{
	return sink.json;
}

bool gmod_log_is_bold(void)
{
	return !sink.plain && !gmod_log_file_path()[0] && gmod_is_terminal(STDERR_FILENO);
}

/*
 * Wrap a message for the log's format, and write it. vsnprintf as in gmod_text_fmt(): our formats hold nothing that it
 * would allocate for.
 */
void gmod_log_note(unsigned level, const char *format, ...)
{
	char message[LINE_BYTES], line[LINE_BYTES];
	int saved = errno;
	struct gmod_text t;
	va_list args;

	if (level > sink.verbosity)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	gmod_text_init(&t, line, sizeof(line) - 8); /* room for what closes the object and ends the line */
	if (sink.json) {
		gmod_log_event(&t, "note");
		gmod_text_str(&t, ",\"text\":");
		gmod_text_json(&t, message, LINE_BYTES);
	} else {
		gmod_text_fmt(&t, "==%d==GMOD: ", (int)getpid());
		gmod_text_escaped(&t, message, LINE_BYTES);
		gmod_text_mark_cut(&t);
	}
	t.cap = sizeof(line);
	if (t.full) { /* the message did not reach its closing quote */
		t.full = false;
		gmod_text_str(&t, "...\"");
	}
	gmod_text_str(&t, sink.json ? "}\n" : "\n");
	gmod_log_lines(line, t.len);
	errno = saved;
}

void gmod_log_point(const char *what)
{
	char line[LINE_BYTES];
	struct gmod_scope scope;
	struct gmod_text t;

	if (!gmod_log_file_path()[0])
		return;
	gmod_text_init(&t, line, sizeof(line));
	gmod_text_fmt(&t, "==%d==GMOD: %s; see ", (int)getpid(), what);
	gmod_text_escaped(&t, gmod_log_file_path(), 512);
	gmod_text_str(&t, "\n");
	gmod_scope_begin(&scope);
	gmod_lock(&sink.lock);
	gmod_stderr_write(line, t.len);
	gmod_unlock(&sink.lock);
	gmod_scope_end(&scope);
}

void gmod_log_string(void *unused, const char *line)
{
	(void)unused;
	gmod_log_note(0, "%s", line);
}

/* ---- opening ---- */

int gmod_log_open(const char *pattern, bool json, unsigned verbosity)
{
	int saved = errno;
	const char *why = NULL;
	struct gmod_scope scope;

	gmod_scope_begin(&scope);
	gmod_log_remember_stderr();
	gmod_origin_read();
	gmod_log_file_none();
	sink.json = json;
	sink.verbosity = verbosity;
	sink.plain = json || *(getenv("NO_COLOR") ?: "");
	if (pattern && *pattern)
		why = gmod_log_file_choose(pattern);
	if (why) {
		say_refusal(why);
		gmod_log_file_none();
	}
	gmod_scope_end(&scope);
	errno = saved;
	return why ? -1 : 0;
}
