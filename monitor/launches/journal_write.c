#include "monitor/launches/journal_write.h"

#include <stdio.h>
#include <sys/stat.h>

#include "include/gmod.h"
#include "lib/base/deadline.h"
#include "lib/base/descriptors.h"
#include "lib/base/facts.h"
#include "lib/base/file.h"
#include "lib/base/futex.h"
#include "lib/base/log.h"
#include "lib/base/log_file.h"
#include "lib/base/map.h"
#include "lib/base/origin.h"
#include "lib/base/worker.h"

typedef unsigned long long ull;

enum { LINE = 65536, SITES = 65536, FUNCTIONS = 65536, HIGH_DESCRIPTOR = 200 };

/* Of the thread that writes, but for the state. */
static struct {
	atomic_int state; /* WRITES ──► IS_TO_END ──► ENDED; from both ──► FAILED ──somebody has said why──► ENDED */
	const char *why;
	void (*site)(struct gmod_text *t, const struct gmod_stack *stack);
	char path[PATH_MAX], line[LINE];
	int fd; /* in a table of the thread's own, which the program cannot close; -1: it is opened for each line */
	uint64_t launches, too_long, site_count, sites[SITES]; /* sites: hashes, by their numbers from 1 */
	_Atomic uint64_t position;                             /* in the queue */
	bool has_function[FUNCTIONS];
} journal;
enum { WRITES, IS_TO_END, FAILED, ENDED };

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

/* ---- files ---- */

/* Once. Hooks tell no more; and why, says who has a descriptor for it. */
static void fail(const char *why)
{
	if (state() >= FAILED)
		return;
	atomic_store_explicit(&gmod_hot.journal, 0, memory_order_relaxed);
	journal.why = why;
	set_state(FAILED);
}

static void say_why(void)
{
	int now;

	while ((now = state()) < FAILED)
		gmod_futex_wait(&journal.state, now, UINT64_MAX);
	if (now == FAILED)
		gmod_log_note(0, "the journal of launches ends here: %s: %s", journal.path, journal.why);
	set_state(ENDED);
}

static int open_new(const char *path, int flags)
{
	return open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | flags, 0600);
}

/* A part of a line has no newline, and a part of an image no name. */
static bool write_all(int fd, const void *bytes, size_t size)
{
	bool done = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;

	if (!done)
		fail(fd >= 0 && errno == 0 ? "a part is not written" : gmod_error_words(errno));
	return done;
}

static void end_line(struct gmod_text *t)
{
	int fd = journal.fd;

	gmod_text_str(t, "}\n");
	journal.too_long += t->full;
	if (t->full || state() >= FAILED)
		return;
	errno = 0;
	if (fd < 0)
		fd = open_new(journal.path, O_APPEND);
	write_all(fd, t->at, t->len);
	if (fd != journal.fd)
		close(fd);
}

static void write_image(const struct gmod_journal_image *i, uint64_t hash)
{
	char path[PATH_MAX + 32], made[PATH_MAX + 32];
	int folder = (int)(strrchr(journal.path, '/') - journal.path), fd;

	snprintf(path, sizeof(path), "%.*s/%016llx.image", folder, journal.path, (ull)hash);
	snprintf(made, sizeof(made), "%s.image", journal.path); /* no other process has the name */
	if (state() >= FAILED || !access(path, F_OK))
		return;
	errno = 0;
	fd = open_new(made, O_CREAT | O_EXCL);
	if (write_all(fd, i->bytes, i->size) && rename(made, path))
		fail(gmod_error_words(errno));
	if (fd >= 0)
		close(fd);
	unlink(made);
}

/* ---- lines ---- */

static void add_id(struct gmod_text *t, const char *key, uint64_t id)
{
	gmod_text_fmt(t, id ? ",\"%s\":%llu" : ",\"%s\":null", key, (ull)id);
}

static void add_three(struct gmod_text *t, const char *key, const uint32_t n[3])
{
	gmod_text_fmt(t, n[0] ? ",\"%s\":[%u,%u,%u]" : ",\"%s\":null", key, n[0], n[1], n[2]);
}

static void tell_image(struct gmod_text *t, const struct gmod_journal_image *i)
{
	uint64_t hash = gmod_hash_bytes(GMOD_HASH_START, i->bytes, i->size);

	gmod_text_fmt(t, "{\"image\":%llu,\"hash\":\"%016llx\",\"kind\":\"%s\",\"bytes\":%llu", (ull)i->id, (ull)hash,
		      i->kind, (ull)i->size);
	write_image(i, hash);
	munmap(i->bytes, i->size + 1);
	end_line(t);
}

static void tell_function(struct gmod_text *t, const struct gmod_journal_launch *l)
{
	const struct gmod_signature *s = l->signature;

	gmod_text_fmt(t, "{\"function\":%llu", (ull)l->function);
	add_id(t, "image", l->image);
	gmod_text_str(t, ",\"name\":");
	gmod_text_json(t, l->name ? l->name : "", LINE);
	gmod_text_str(t, ",\"parameters\":[");
	for (int i = 0; i < s->count; i++)
		gmod_text_fmt(t, "%s[%u,%u]", i ? "," : "", s->at[i].offset, s->at[i].size);
	gmod_text_str(t, "]");
	end_line(t);
}

/* 0: it has not been told. */
static uint64_t number_of_site(uint64_t hash)
{
	uint64_t i = journal.site_count;

	while (i && journal.sites[i - 1] != hash)
		i--;
	return i;
}

static void tell_site(struct gmod_text *t, const struct gmod_journal_site *s)
{
	if (number_of_site(s->hash) || journal.site_count == SITES)
		return;
	journal.sites[journal.site_count++] = s->hash;
	gmod_text_fmt(t, "{\"site\":%llu", (ull)journal.site_count);
	journal.site(t, &s->stack);
	end_line(t);
}

static void add_pointers(struct gmod_text *t, const struct gmod_journal_launch *l)
{
	static const char *const memory[] = {"device", "managed", "pinned", "device"};
	const struct gmod_journal_pointer *p = (const void *)(l->words + l->signature->bytes / 8);

	for (uint64_t i = 0; i < l->pointers; i++) {
		gmod_text_fmt(t, "%s{\"at\":%u,\"offset\":%lld,\"size\":%llu", i ? "," : "", p[i].at,
			      (long long)p[i].offset, (ull)p[i].size);
		add_id(t, "site", number_of_site(p[i].site));
		gmod_text_fmt(t, ",\"memory\":\"%s\"}", p[i].is_pool ? "pool" : memory[p[i].memory & 3]);
	}
}

static void tell_launch(struct gmod_text *t, const struct gmod_journal_launch *l)
{
	gmod_text_fmt(t, "{\"launch\":%llu,\"function\":%llu", (ull)++journal.launches, (ull)l->function);
	add_three(t, "grid", l->shape.grid);
	add_three(t, "block", l->shape.block);
	add_three(t, "cluster", l->shape.cluster);
	gmod_text_fmt(t, ",\"shared\":%u,\"device\":%d,\"capability\":%d,\"parameters\":\"", l->shape.shared, l->device,
		      l->capability);
	for (uint32_t i = 0; i < l->signature->bytes; i++)
		gmod_text_fmt(t, "%02x", ((const uint8_t *)l->words)[i]);
	gmod_text_str(t, "\",\"pointers\":[");
	add_pointers(t, l);
	gmod_text_str(t, l->shape.is_graph ? "],\"graph\":true" : "],\"graph\":false");
	end_line(t);
}

static struct gmod_text begin_line(void)
{
	struct gmod_text t;

	gmod_text_init(&t, journal.line, LINE);
	return t;
}

static void tell(const struct gmod_journal_piece *p)
{
	struct gmod_text t = begin_line();

	if (p->kind == GMOD_JOURNAL_IMAGE) {
		tell_image(&t, &p->image);
	} else if (p->kind == GMOD_JOURNAL_SITE) {
		tell_site(&t, &p->site);
	} else {
		bool *is_told = &journal.has_function[p->launch.function % FUNCTIONS];

		if (!*is_told)
			tell_function(&t, &p->launch);
		*is_told = true;
		t = begin_line();
		tell_launch(&t, &p->launch);
	}
}

static void tell_all(void)
{
	uint64_t position = atomic_load_explicit(&journal.position, memory_order_relaxed);

	for (const struct gmod_journal_piece *p; (p = gmod_journal_next(&position));) {
		tell(p);
		atomic_store_explicit(&journal.position, position, memory_order_relaxed);
	}
}

static void tell_beginning(void)
{
	static char command[4096];
	ssize_t n = gmod_read_file("/proc/self/cmdline", command, sizeof(command) - 1);
	struct gmod_text t = begin_line();

	for (ssize_t i = 0; i + 1 < n; i++)
		command[i] = command[i] ? command[i] : ' ';
	gmod_text_str(&t, "{\"journal\":\"gmod-journal-1\",\"gmod\":\"" GMOD_VERSION "\",\"host\":");
	gmod_text_json(&t, gmod_origin.host, sizeof(gmod_origin.host));
	gmod_text_fmt(&t, ",\"pid\":%d,\"rank\":%s,\"command\":", (int)getpid(),
		      *gmod_origin.rank ? gmod_origin.rank : "null");
	gmod_text_json(&t, command, sizeof(command));
	gmod_text_str(&t, ",\"time\":");
	gmod_text_stamp(&t, gmod_now().ns);
	end_line(&t);
}

static void tell_end(void)
{
	struct gmod_journal_counts c = gmod_journal_rest();
	struct gmod_text t;

	tell_all();
	c.dropped += journal.too_long;
	t = begin_line();
	gmod_text_fmt(&t, "{\"end\":true,\"launches\":%llu,\"looked_at\":%llu,\"signatures\":%llu,\"dropped\":%llu",
		      (ull)c.launches, (ull)c.looked_at, (ull)journal.launches, (ull)c.dropped);
	end_line(&t);
}

/* ---- the thread ---- */

static void write_journal(void)
{
	bool has_own_table = gmod_own_descriptors();
	int fd = open_new(journal.path, O_CREAT | O_EXCL | O_APPEND);

	if (fd < 0)
		fail(gmod_error_words(errno));
	/* Not one of the first three, which others may take for theirs. */
	journal.fd = fd >= 0 && has_own_table ? fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR) : -1;
	if (fd >= 0)
		close(fd);
	for (tell_beginning(); state() == WRITES; tell_all())
		gmod_futex_wait(&journal.state, WRITES, GMOD_MILLISECONDS(10));
	tell_all();
	tell_end();
	if (state() == IS_TO_END)
		set_state(ENDED);
}

void gmod_journal_start(int32_t (*device_of)(uint64_t context, int32_t *capability),
			void (*site)(struct gmod_text *t, const struct gmod_stack *stack))
{
	static const struct gmod_worker writer = {"gmod-journal", write_journal}, sayer = {"gmod-why", say_why};
	const char *folder = gmod_options()->journal, *why;
	char pattern[GMOD_OPTION_STRING_MAX + 32];

	if (!*folder)
		return;
	if (!strchr(folder, '%'))
		mkdir(folder, 0700);
	snprintf(pattern, sizeof(pattern), "%s/%%h.%%p.%%t.journal", folder);
	why = gmod_log_file_name(pattern, journal.path, true);
	if (!why && !gmod_journal_init(device_of))
		why = "there is no memory";
	journal.site = site;
	/* First: the thread may give up at once. */
	atomic_store_explicit(&gmod_hot.journal, !why, memory_order_relaxed);
	if (!why && (gmod_worker_start(&sayer) || gmod_worker_start(&writer)))
		why = "there is no thread to be had";
	if (!why)
		return;
	atomic_store_explicit(&gmod_hot.journal, 0, memory_order_relaxed);
	gmod_log_note(0, "there is no journal of launches: %s: %s", journal.path, why);
}

void gmod_journal_await(uint64_t deadline, bool ends)
{
	int writes = WRITES;

	if (!atomic_load_explicit(&gmod_hot.journal, memory_order_relaxed) && state() == WRITES)
		return;
	if (ends) {
		atomic_store_explicit(&gmod_hot.journal, 0, memory_order_relaxed);
		atomic_compare_exchange_strong_explicit(&journal.state, &writes, IS_TO_END, memory_order_relaxed,
							memory_order_relaxed);
	}
	gmod_futex_wake(&journal.state);
	while ((ends ? state() != ENDED
		     : atomic_load_explicit(&journal.position, memory_order_relaxed) < gmod_journal_put_so_far()) &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1) / 2))
		;
}
