#include "monitor/report/stats.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/facts.h"
#include "lib/base/file.h"
#include "lib/base/lock.h"
#include "lib/base/log.h"
#include "lib/base/log_file.h"

/* The holder of `writing` has all but the path. */
static struct {
	char path[PATH_MAX]; /* "": there is none */
	char aside[PATH_MAX + 16], labels[64], text[16384];
	struct gmod_run_summary written;
	bool last;
	atomic_flag writing;
} file = {.writing = ATOMIC_FLAG_INIT};

static void refuse(const char *why)
{
	static atomic_bool said;

	if (gmod_degraded_first(&said))
		gmod_log_note(0, "cannot write stats_path %s: %s", file.path, why);
}

void gmod_stats_open(const char *pattern)
{
	const char *why = gmod_log_file_name(pattern, file.path, true);
	struct gmod_text labels;

	gmod_text_init(&labels, file.labels, sizeof(file.labels));
	gmod_log_expand(&labels, "pid=\"%p\",rank=\"%r\"");
	snprintf(file.aside, sizeof(file.aside), "%s.%d", file.path, (int)getpid());
	if (!why)
		return;
	refuse(why);
	file.path[0] = '\0';
}

/* A file that a killed process of the same number has left aside goes. */
static bool replace(const struct gmod_text *t)
{
	bool done;
	int fd;

	unlink(file.aside);
	fd = open(file.aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	errno = ENOSPC; /* of a part that is written */
	done = write(fd, t->at, t->len) == (ssize_t)t->len;
	return !close(fd) && done && !rename(file.aside, file.path);
}

static void write_file(const struct gmod_run_summary *s)
{
	struct gmod_text t;

	gmod_text_init(&t, file.text, sizeof(file.text));
	gmod_summary_prometheus(s, file.labels, &t);
	if (replace(&t)) {
		file.written = *s;
		return;
	}
	refuse(gmod_error_words(errno));
	unlink(file.aside);
}

uint64_t gmod_stats_write(const struct gmod_run_summary *s, bool last)
{
	if (!file.path[0])
		return UINT64_MAX;
	if (gmod_lock(&file.writing)) {
		if (!file.last && memcmp(s, &file.written, sizeof(*s)) != 0)
			write_file(s);
		file.last |= last;
		gmod_unlock(&file.writing);
	}
	return GMOD_SECONDS(5);
}
