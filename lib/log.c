#include "lib/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 2048
#define LOCK_WAIT_NS 50000000ull
#define LOCK_NAP_NS 100000
#define HIGH_DESCRIPTOR 200 /* above what programs number by hand, below any sensible limit */
#define INTERRUPTS_MAX 8

/* The file behind a descriptor. Two descriptors of one file are alike; a recycled one is not. */
struct identity {
	bool known;
	dev_t dev;
	ino_t ino;
	mode_t type;
	dev_t rdev;
};

/*
 * All state of the sink. path, json and verbosity are set by gmod_log_open() and read-only afterwards; fd and
 * fd_identity belong to the holder of the lock. A thread that waited LOCK_WAIT_NS takes the lock from its holder (who
 * may be gone: fork copies a held lock): then two threads may write at once, which costs order, and at worst a
 * descriptor, but no memory.
 */
static struct {
	_Atomic pid_t holder; /* thread id, 0: free */
	bool json;
	unsigned verbosity;
	char path[PATH_MAX]; /* empty: stderr */
	int fd;              /* of path; meaningful only while fd_identity matches it */
	struct identity fd_identity;
	bool stderr_noted; /* even if it was closed */
	struct identity stderr_identity;
	bool fd_torn, stderr_torn; /* the last line there ended early */
	_Atomic bool refusal_said;
	_Atomic uint64_t lost, lost_said;
} sink;

/* ---- text ---- */

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

void gmod_text_escaped(struct gmod_text *t, const char *string, size_t max)
{
	const unsigned char *s = (const unsigned char *)(string ? string : "?");
	size_t n = strnlen((const char *)s, max + 1), shown = n > max ? max : n;
	uint32_t code;

	for (size_t i = 0; i < shown;) {
		size_t len = decode_utf8(s + i, n - i, &code);
		bool plain = len > 0 && !is_deceptive(code);

		len = len > 0 ? len : 1;
		if (!(plain ? append_unit(t, (const char *)s + i, len) : append_hex_bytes(t, "\\", s + i, len)))
			return;
		i += len;
	}
	if (n > max)
		gmod_text_str(t, "...");
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
	const unsigned char *s = (const unsigned char *)string;
	size_t n, i = 0;
	uint32_t code = 0;

	if (!s) {
		gmod_text_str(t, "null");
		return;
	}
	n = strnlen(string, max + 1);
	gmod_text_str(t, "\"");
	while (i < n && i < max) {
		size_t len = decode_utf8(s + i, n - i, &code);

		if (!append_json_char(t, s + i, len, code))
			return;
		i += len > 0 ? len : 1;
	}
	gmod_text_str(t, n > max ? "...\"" : "\"");
}

void gmod_text_clock(struct gmod_text *t, uint64_t ns)
{
	unsigned second = ns / 1000000000 % 86400;

	gmod_text_fmt(t, "%02u:%02u:%02u.%06u", second / 3600, second / 60 % 60, second % 60,
		      (unsigned)(ns / 1000 % 1000000));
}

/* The Gregorian date of a day counted from 1970-01-01: years begin in March, so that leap days come last. */
static void append_date(struct gmod_text *t, uint64_t days, const char *format)
{
	uint64_t day = days + 719468, era = day / 146097, of_era = day % 146097;
	uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
	unsigned mday = of_year - (153 * month + 2) / 5 + 1;

	month = month < 10 ? month + 3 : month - 9;
	year += era * 400 + (month <= 2);
	gmod_text_fmt(t, format[0] == '-' ? "%04u-%02u-%02u" : "%04u%02u%02u", (unsigned)year, month, mday);
}

void gmod_text_stamp(struct gmod_text *t, uint64_t ns)
{
	if (ns == 0) {
		gmod_text_str(t, "null");
		return;
	}
	gmod_text_str(t, "\"");
	append_date(t, ns / 86400000000000ull, "-");
	gmod_text_str(t, "T");
	gmod_text_clock(t, ns);
	gmod_text_fmt(t, "%03uZ\"", (unsigned)(ns % 1000));
}

/* ---- the lock ---- */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts = {0};

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Returns false if this thread holds it already. Acquire: what the last holder wrote to `sink` is visible. */
static bool lock(pid_t self)
{
	const struct timespec nap = {0, LOCK_NAP_NS};
	uint64_t began = now_ns(CLOCK_MONOTONIC);

	for (;;) {
		pid_t holder = 0;

		if (atomic_compare_exchange_weak_explicit(&sink.holder, &holder, self, memory_order_acquire,
							  memory_order_relaxed))
			return true;
		if (holder == self)
			return false;
		if (now_ns(CLOCK_MONOTONIC) - began > LOCK_WAIT_NS) {
			atomic_exchange_explicit(&sink.holder, self, memory_order_acq_rel);
			return true;
		}
		if (holder != 0)
			nanosleep(&nap, NULL);
	}
}

/* Release: our writes to `sink` are visible to the next holder. Fails harmlessly if the lock was taken from us. */
static void unlock(pid_t self)
{
	atomic_compare_exchange_strong_explicit(&sink.holder, &self, 0, memory_order_release, memory_order_relaxed);
}

/* ---- holding off what could cut us short ---- */

/*
 * Besides what arrives from outside this blocks what a write can raise: SIGPIPE; SIGXFSZ past RLIMIT_FSIZE; SIGTTOU,
 * which would stop a background job (with it blocked the terminal just takes the output). Faults stay as they are.
 */
void gmod_hold(struct gmod_hold *h)
{
	static const int fault[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t block, pending;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &h->cancel);
	sigfillset(&block);
	for (size_t i = 0; i < sizeof(fault) / sizeof(fault[0]); i++)
		sigdelset(&block, fault[i]);
	pthread_sigmask(SIG_BLOCK, &block, &h->mask);
	sigpending(&pending);
	h->pending_pipe = sigismember(&pending, SIGPIPE);
	h->pending_size = sigismember(&pending, SIGXFSZ);
}

/* Take back those that we raised, and only those: what was pending before stays pending. */
void gmod_let_go(const struct gmod_hold *h)
{
	const struct timespec zero = {0, 0};
	int saved = errno;
	sigset_t ours;

	sigemptyset(&ours);
	if (!h->pending_pipe)
		sigaddset(&ours, SIGPIPE);
	if (!h->pending_size)
		sigaddset(&ours, SIGXFSZ);
	while (sigtimedwait(&ours, NULL, &zero) > 0 || errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &h->mask, NULL);
	pthread_setcancelstate(h->cancel, NULL);
	errno = saved;
}

/* ---- descriptors ---- */

static struct identity identify(const struct stat *st)
{
	return (struct identity){true, st->st_dev, st->st_ino, st->st_mode & S_IFMT, st->st_rdev};
}

static bool is_file(const struct identity *id, const struct stat *st)
{
	return id->known && id->dev == st->st_dev && id->ino == st->st_ino && id->type == (st->st_mode & S_IFMT) &&
	       id->rdev == st->st_rdev;
}

static bool is_terminal(int fd)
{
	struct termios settings;

	return ioctl(fd, TCGETS, &settings) == 0;
}

static bool takes_output(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

/*
 * Write it all, or say false, and in *torn whether a part of it is out. paced: the descriptor may block and is not
 * ours to make non-blocking, so ask before each piece; what a pipe that polls writable takes at once is PIPE_BUF.
 */
static bool write_all(int fd, const char *s, size_t n, bool paced, bool *torn)
{
	int interrupts = 0;

	for (size_t done = 0; done < n;) {
		size_t piece = paced && n - done > PIPE_BUF ? PIPE_BUF : n - done;
		ssize_t w = -1;

		errno = EAGAIN;
		if (!paced || takes_output(fd))
			w = write(fd, s + done, piece);
		if (w < 0 && errno == EINTR && interrupts++ < INTERRUPTS_MAX)
			continue;
		if (w <= 0) {
			*torn = done > 0;
			return false;
		}
		done += (size_t)w;
	}
	return true;
}

/* A line that ended early gets its newline late, so that the next one starts where a reader expects it. */
static bool write_line(int fd, const char *s, size_t n, bool paced, bool *torn)
{
	bool still = false;

	if (*torn && !write_all(fd, "\n", 1, paced, &still))
		return false;
	*torn = false;
	return write_all(fd, s, n, paced, torn);
}

/* ---- stderr ---- */

void gmod_log_remember_stderr(void)
{
	int saved = errno;
	struct stat st;

	if (!sink.stderr_noted && fstat(STDERR_FILENO, &st) == 0)
		sink.stderr_identity = identify(&st);
	sink.stderr_noted = true;
	errno = saved;
}

/*
 * May we write to descriptor 2, whose file is *st? Yes if it is the file it was at the start. Otherwise the program
 * closed it, and either redirected its stderr or had the number recycled for something a stray line would corrupt;
 * nothing tells the two apart for certain, and a lost line does less harm than a spoilt data file. So only what
 * cannot be data is accepted: a terminal; and what stdout is too (a daemon sends both to one log), if that is a pipe
 * or a file opened for appending. Sockets and files of its own on descriptor 2 are refused. log_path is the remedy.
 */
static bool stderr_is_safe(const struct stat *st)
{
	struct identity here = identify(st);
	struct stat out;
	int flags;

	if (is_file(&sink.stderr_identity, st) || (S_ISCHR(st->st_mode) && is_terminal(STDERR_FILENO)))
		return true;
	if (fstat(STDOUT_FILENO, &out) != 0 || !is_file(&here, &out))
		return false;
	flags = fcntl(STDERR_FILENO, F_GETFL);
	return S_ISFIFO(st->st_mode) || (S_ISREG(st->st_mode) && flags >= 0 && (flags & O_APPEND));
}

/*
 * A non-blocking descriptor of our own for the pipe or terminal behind descriptor 2, -1 if there is none. Setting
 * O_NONBLOCK on the program's own would change it for all who share it. Held for one line only: a reader must see the
 * end of the pipe when the program closes it.
 */
static int open_private_stderr(const struct stat *st)
{
	struct identity wanted = identify(st);
	struct stat got;
	int fd;

	if (!S_ISFIFO(st->st_mode) && !is_terminal(STDERR_FILENO))
		return -1;
	fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &got) != 0 || !is_file(&wanted, &got))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool write_stderr(const char *s, size_t n)
{
	struct stat st;
	bool ok;
	int fd;

	gmod_log_remember_stderr();
	if (fstat(STDERR_FILENO, &st) != 0 || !stderr_is_safe(&st))
		return false;
	if (S_ISSOCK(st.st_mode))
		return send(STDERR_FILENO, s, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n;
	fd = open_private_stderr(&st);
	if (fd < 0)
		return write_line(STDERR_FILENO, s, n, !S_ISREG(st.st_mode), &sink.stderr_torn);
	ok = write_line(fd, s, n, false, &sink.stderr_torn);
	close(fd);
	return ok;
}

/* ---- the file of log_path ---- */

/* strerror() may allocate and take the locale's lock. */
static const char *error_words(int error)
{
	static const struct {
		int error;
		const char *words;
	} table[] = {
	    {ENOENT, "no such directory"},
	    {ENOTDIR, "a part of the path is not a directory"},
	    {EACCES, "permission denied"},
	    {EPERM, "permission denied"},
	    {EROFS, "the file system is read-only"},
	    {ELOOP, "it is a symbolic link"},
	    {ENXIO, "nobody reads the pipe"},
	    {EPIPE, "the pipe's reader is gone"},
	    {EAGAIN, "the pipe is full"},
	    {ENOSPC, "no space left"},
	    {EDQUOT, "no space left"},
	    {EFBIG, "the file has reached its size limit"},
	    {EMFILE, "too many open files"},
	    {ENFILE, "too many open files"},
	    {ENAMETOOLONG, "the path is too long"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].error == error)
			return table[i].words;
	return "the system refuses it";
}

/* What is wrong with writing reports to an existing file, NULL if nothing is. */
static const char *refuse_file(const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return "it is a symbolic link";
	if (!S_ISREG(st->st_mode) && !S_ISFIFO(st->st_mode) && !S_ISCHR(st->st_mode))
		return "it is not a file, a pipe or a character device";
	/* Somebody else put it there, to read what we say or to have us write into something of ours. */
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "it belongs to another user";
	if (S_ISREG(st->st_mode) && st->st_nlink > 1)
		return "it has several hard links";
	return NULL;
}

/* Say once why the file does not serve. Goes to stderr whatever the log's format: the log is what does not work. */
static void say_refusal(const char *why)
{
	char line[LINE_BYTES];
	struct gmod_text t;

	if (atomic_exchange_explicit(&sink.refusal_said, true, memory_order_relaxed))
		return;
	gmod_text_init(&t, line, sizeof(line));
	if (sink.json)
		gmod_text_fmt(&t, "{\"schema\":\"" GMOD_LOG_SCHEMA "\",\"event\":\"log-refused\",\"pid\":%d,\"path\":",
			      (int)getpid());
	else
		gmod_text_fmt(&t, "==%d==GMOD: cannot write log_path ", (int)getpid());
	(sink.json ? gmod_text_json : gmod_text_escaped)(&t, sink.path, 256);
	gmod_text_str(&t, sink.json ? ",\"reason\":\"" : ": ");
	gmod_text_str(&t, why);
	gmod_text_str(&t, sink.json ? "\"}\n" : "; reports go to stderr\n");
	if (!write_stderr(line, t.len))
		atomic_fetch_add_explicit(&sink.lost, 1, memory_order_relaxed);
}

/* Move a new descriptor out of the program's way, and never keep one that stands for a standard stream. */
static int move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);

	if (high < 0 && fd > STDERR_FILENO)
		return fd;
	close(fd);
	return high;
}

/* Open path into sink.fd; false after saying why not. Refused files are tried again for the next line. */
static bool open_file(void)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	const char *why = NULL;
	struct stat st;
	int fd = open(sink.path, flags, 0600);

	if (fd >= 0 && fstat(fd, &st) == 0)
		why = refuse_file(&st);
	if (fd >= 0 && why) {
		close(fd);
		say_refusal(why);
		return false;
	}
	if (fd >= 0)
		fd = move_high(fd);
	if (fd < 0) {
		say_refusal(error_words(errno));
		return false;
	}
	sink.fd = fd;
	sink.fd_identity = identify(&st);
	sink.fd_torn = false;
	return true;
}

/* The program may have closed our descriptor (daemons close them all) and got its number for a file of its own. */
static bool file_is_ours(void)
{
	struct stat st;

	return sink.fd_identity.known && fstat(sink.fd, &st) == 0 && is_file(&sink.fd_identity, &st);
}

static bool write_file(const char *s, size_t n)
{
	if (!file_is_ours()) {
		sink.fd_identity.known = false;
		if (!open_file())
			return false;
	}
	if (write_line(sink.fd, s, n, false, &sink.fd_torn))
		return true;
	say_refusal(error_words(errno));
	return false;
}

/* ---- writing ---- */

/* A line that the file does not take goes to stderr: torn in two places is better than lost. */
static bool write_somewhere(const char *s, size_t n)
{
	if (sink.path[0] && write_file(s, n))
		return true;
	return write_stderr(s, n);
}

static void tell_losses(void)
{
	uint64_t lost = atomic_load_explicit(&sink.lost, memory_order_relaxed);
	uint64_t news = lost - atomic_load_explicit(&sink.lost_said, memory_order_relaxed);
	char line[160];
	struct gmod_text t;

	if (news == 0)
		return;
	gmod_text_init(&t, line, sizeof(line));
	gmod_text_fmt(&t,
		      sink.json ? "{\"schema\":\"" GMOD_LOG_SCHEMA "\",\"event\":\"lost\",\"pid\":%d,\"lines\":%llu}\n"
				: "==%d==GMOD: %llu lines before this one could not be written\n",
		      (int)getpid(), (unsigned long long)news);
	if (write_somewhere(line, t.len))
		atomic_store_explicit(&sink.lost_said, lost, memory_order_relaxed);
}

void gmod_log_lines(const char *text, size_t len)
{
	const char *end = text + len;
	int saved = errno;
	pid_t self = (pid_t)syscall(SYS_gettid);
	struct gmod_hold hold;
	bool locked;

	gmod_hold(&hold);
	locked = lock(self);
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *next = newline ? newline + 1 : end;

		tell_losses();
		if (!write_somewhere(text, (size_t)(next - text)))
			atomic_fetch_add_explicit(&sink.lost, 1, memory_order_relaxed);
		text = next;
	}
	if (locked)
		unlock(self);
	gmod_let_go(&hold);
	errno = saved;
}

uint64_t gmod_log_lost(void)
{
	return atomic_load_explicit(&sink.lost, memory_order_relaxed);
}

bool gmod_log_json(void)
{
	return sink.json;
}

/* Wrap a message for the log's format, and write it. */
static void log_message(const char *prefix, const char *message)
{
	char line[LINE_BYTES];
	struct gmod_text t;

	gmod_text_init(&t, line, sizeof(line) - 8); /* room for what closes the object and ends the line */
	if (sink.json) {
		gmod_text_fmt(
		    &t, "{\"schema\":\"" GMOD_LOG_SCHEMA "\",\"event\":\"note\",\"pid\":%d,\"text\":", (int)getpid());
		gmod_text_json(&t, message, LINE_BYTES);
	} else {
		gmod_text_str(&t, prefix);
		gmod_text_escaped(&t, message, LINE_BYTES);
	}
	if (!sink.json)
		gmod_text_mark_cut(&t);
	t.cap = sizeof(line);
	if (t.full) { /* the message did not reach its closing quote */
		t.full = false;
		gmod_text_str(&t, "...\"");
	}
	gmod_text_str(&t, sink.json ? "}\n" : "\n");
	gmod_log_lines(line, t.len);
}

/* vsnprintf as in gmod_text_fmt(): our formats hold nothing that it would allocate for. */
void gmod_log_line(const char *format, ...)
{
	char message[LINE_BYTES];
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	log_message("", message);
	errno = saved;
}

void gmod_log_note(unsigned level, const char *format, ...)
{
	char message[LINE_BYTES], prefix[32];
	int saved = errno;
	va_list args;

	if (level > sink.verbosity)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	snprintf(prefix, sizeof(prefix), "==%d==GMOD: ", (int)getpid());
	log_message(prefix, message);
	errno = saved;
}

void gmod_log_string(void *unused, const char *line)
{
	(void)unused;
	gmod_log_note(0, "%s", line);
}

/* ---- opening ---- */

static void append_rank(struct gmod_text *t)
{
	static const char *const variable[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "RANK"};
	const char *rank = NULL;

	for (size_t i = 0; i < sizeof(variable) / sizeof(variable[0]) && !rank; i++)
		rank = getenv(variable[i]);
	if (!rank || !*rank || rank[strspn(rank, "0123456789")])
		rank = "0";
	gmod_text_str(t, rank);
}

static void append_host(struct gmod_text *t)
{
	struct utsname u;

	if (uname(&u) != 0)
		snprintf(u.nodename, sizeof(u.nodename), "localhost");
	for (char *slash = strchr(u.nodename, '/'); slash; slash = strchr(slash, '/'))
		*slash = '_';
	gmod_text_str(t, u.nodename);
}

/* Append what %LETTER stands for; an unknown letter stays as it is written. */
static void append_directive(struct gmod_text *t, char letter)
{
	uint64_t now = now_ns(CLOCK_REALTIME);
	unsigned second = now / 1000000000 % 86400;

	switch (letter) {
	case 'p':
		gmod_text_fmt(t, "%d", (int)getpid());
		return;
	case 'h':
		append_host(t);
		return;
	case 't':
		append_date(t, now / 86400000000000ull, "");
		gmod_text_fmt(t, "-%02u%02u%02u", second / 3600, second / 60 % 60, second % 60);
		return;
	case 'r':
		append_rank(t);
		return;
	case '%':
		gmod_text_str(t, "%");
		return;
	default:
		gmod_text_fmt(t, "%%%c", letter);
	}
}

/* Expand the pattern into sink.path, made absolute because programs change directory; false if it does not fit. */
static bool expand_path(const char *pattern)
{
	struct gmod_text t;

	gmod_text_init(&t, sink.path, sizeof(sink.path));
	if (pattern[0] != '/') {
		if (syscall(SYS_getcwd, sink.path, sizeof(sink.path)) <= 0)
			sink.path[0] = '\0';
		t.len = strlen(sink.path);
		gmod_text_str(&t, "/");
	}
	for (const char *p = pattern; *p; p++) {
		if (*p == '%' && p[1])
			append_directive(&t, *++p);
		else
			gmod_text_bytes(&t, p, 1);
	}
	return !t.full;
}

/* What is known to be wrong with sink.path, as far as that can be seen without creating the file; NULL: nothing. */
static const char *check_path(void)
{
	char *slash = strrchr(sink.path, '/');
	const char *why = NULL;
	struct stat st;

	if (!slash[1])
		return "it names a directory";
	if (lstat(sink.path, &st) == 0) {
		why = refuse_file(&st);
		if (!why && faccessat(AT_FDCWD, sink.path, W_OK, AT_EACCESS) != 0)
			why = error_words(errno);
		return why;
	}
	*slash = '\0';
	if (faccessat(AT_FDCWD, slash == sink.path ? "/" : sink.path, W_OK | X_OK, AT_EACCESS) != 0)
		why = error_words(errno);
	*slash = '/';
	return why;
}

int gmod_log_open(const char *pattern, bool json, unsigned verbosity)
{
	int saved = errno;
	const char *why = NULL;
	struct gmod_hold hold;

	gmod_hold(&hold);
	gmod_log_remember_stderr();
	if (file_is_ours())
		close(sink.fd);
	sink.fd_identity.known = false;
	sink.json = json;
	sink.verbosity = verbosity;
	sink.path[0] = '\0';
	if (pattern && *pattern)
		why = expand_path(pattern) ? check_path() : "the path is too long";
	if (why) {
		say_refusal(why);
		sink.path[0] = '\0';
	}
	gmod_let_go(&hold);
	errno = saved;
	return why ? -1 : 0;
}
