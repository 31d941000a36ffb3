#include "monitor/launches/journal_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/deadline.h"
#include "lib/base/descriptors.h"
#include "lib/base/facts.h"
#include "lib/base/file.h"
#include "lib/base/futex.h"
#include "lib/base/log.h"
#include "lib/base/log_file.h"
#include "lib/base/text.h"
#include "lib/base/worker.h"

/*
 *     NONE ──► WRITES ──► IS_TO_END ──► ENDED
 *                └────────fail()──────────^
 */
enum { NONE, WRITES, IS_TO_END, ENDED };

/* Of the thread that writes, but for the first two. */
static struct {
	atomic_int state;
	_Atomic(const char *) why; /* it has ended early, which has not been said yet */
	const struct gmod_journal_source *source;
	char path[PATH_MAX];
	int fd, flags; /* for the next time that the file is opened */
} journal = {.fd = -1, .flags = O_CREAT | O_EXCL};

static int state(void)
{
	return atomic_load_explicit(&journal.state, memory_order_acquire);
}

static void set_state(int to)
{
	/* release: who sees it sees why, and that all is written */
	atomic_store_explicit(&journal.state, to, memory_order_release);
	gmod_futex_wake(&journal.state);
}

/* Hooks tell no more. Why is said by gmod_journal_end(): the log may be none of this thread's descriptors. */
static void fail(const char *why)
{
	if (state() == ENDED)
		return;
	atomic_store_explicit(&gmod_hot.journal, 0, memory_order_relaxed);
	atomic_store_explicit(&journal.why, why, memory_order_relaxed);
	set_state(ENDED);
}

static int open_file(const char *path, int flags)
{
	return open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | flags, 0600);
}

/* A part of a line has no newline, and a part of an image no name. */
static bool write_all(int fd, const void *bytes, size_t size)
{
	ssize_t n = fd < 0 || state() == ENDED ? -1 : write(fd, bytes, size);

	if (n != (ssize_t)size)
		fail(n < 0 ? gmod_error_words(errno) : "a part is not written");
	return n == (ssize_t)size;
}

void gmod_journal_write(const void *bytes, size_t size)
{
	if (journal.fd < 0)
		journal.fd = open_file(journal.path, journal.flags);
	journal.flags = O_APPEND;
	write_all(journal.fd, bytes, size);
}

/* Of several processes that have an image one writes it, and nobody sees a part. */
void gmod_journal_write_image(const void *bytes, size_t size, uint64_t hash)
{
	char path[PATH_MAX + 32], made[PATH_MAX + 32];
	int fd;

	snprintf(made, sizeof(made), "%s.image", journal.path);
	snprintf(path, sizeof(path), "%.*s/%016llx.image", (int)(strrchr(journal.path, '/') - journal.path),
		 journal.path, (unsigned long long)hash);
	if (!access(path, F_OK))
		return;
	fd = open_file(made, O_CREAT | O_EXCL);
	if (write_all(fd, bytes, size) && rename(made, path))
		fail(gmod_error_words(errno));
	close(fd);
	unlink(made);
}

/* The file is not left open: where the thread has no table of its own, the program may close descriptors. */
static void write_what(void (*tell)(void))
{
	tell();
	if (journal.fd >= 0)
		close(journal.fd);
	journal.fd = -1;
}

static void write_journal(void)
{
	gmod_own_descriptors();
	write_what(journal.source->tell_beginning);
	for (; state() == WRITES; gmod_futex_wait(&journal.state, WRITES, GMOD_MILLISECONDS(10)))
		write_what(journal.source->tell_more);
	if (state() == IS_TO_END)
		write_what(journal.source->tell_end);
	set_state(ENDED);
}

void gmod_journal_open(const struct gmod_journal_source *source)
{
	static const struct gmod_worker writer = {"gmod-journal", write_journal};
	const char *folder = gmod_options()->journal, *why;
	char pattern[GMOD_OPTION_STRING_MAX + 32];

	if (!strchr(folder, '%'))
		mkdir(folder, 0700);
	snprintf(pattern, sizeof(pattern), "%s/%%h.%%p.%%t.journal", folder);
	why = gmod_log_file_name(pattern, journal.path, true);
	journal.source = source;
	if (!why && source) {
		set_state(WRITES);
		atomic_store_explicit(&gmod_hot.journal, 1, memory_order_release);
		if (!gmod_worker_start(&writer))
			return;
	}
	fail(why ? why : "there is no memory for it, or no thread");
	gmod_journal_end(0);
}

void gmod_journal_end(uint64_t deadline)
{
	const char *why;
	int now = WRITES;

	atomic_store_explicit(&gmod_hot.journal, 0, memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(&journal.state, &now, IS_TO_END, memory_order_relaxed,
						memory_order_relaxed);
	gmod_futex_wake(&journal.state);
	while (state() == IS_TO_END && gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 2))
		;
	why = atomic_exchange_explicit(&journal.why, NULL, memory_order_relaxed);
	if (why)
		gmod_log_note(0, "the journal of launches ends here: %s: %s", journal.path, why);
}
