#include "monitor/report/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/facts.h"
#include "lib/base/loaded.h"
#include "lib/base/lock.h"
#include "lib/base/log.h"
#include "lib/base/log_file.h"
#include "lib/base/origin.h"
#include "monitor/report/cost.h"

typedef unsigned long long ull;

uint64_t gmod_summary_guarded(const struct gmod_run_summary *s)
{
	return s->count.guarded_bytes + s->count.ordered_bytes;
}

uint64_t gmod_summary_bytes(const struct gmod_run_summary *s)
{
	return gmod_summary_guarded(s) + s->count.fallback_bytes + s->count.unsupported_bytes;
}

/* Rounded down: 1000 is said only of everything. Of nothing it is 0. */
static unsigned share_of(uint64_t part, uint64_t whole)
{
	return whole ? (unsigned)((unsigned __int128)part * 1000 / whole) : 0;
}

/* Of all the device memory the guarded share. */
static unsigned permille(const struct gmod_run_summary *s)
{
	return share_of(gmod_summary_guarded(s), gmod_summary_bytes(s));
}

static unsigned all_findings(const struct gmod_run_summary *s)
{
	unsigned sum = 0;

	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		sum += s->findings[i];
	return sum;
}

static void add_guarded(struct gmod_text *t, const struct gmod_run_summary *s)
{
	ull buffers = s->count.guarded + s->count.fallback;
	unsigned share = permille(s);

	if (gmod_summary_bytes(s) == 0) {
		gmod_text_str(t, "no device buffers");
		return;
	}
	gmod_text_fmt(t, "guarded %llu of %llu buffer%s, ", (ull)s->count.guarded, buffers, gmod_plural(buffers));
	gmod_text_size(t, gmod_summary_guarded(s));
	gmod_text_str(t, " of ");
	gmod_text_size(t, gmod_summary_bytes(s));
	gmod_text_fmt(t, " device memory (%u.%u %%)", share / 10, share % 10);
}

static void add_findings(struct gmod_text *t, const struct gmod_run_summary *s)
{
	unsigned findings = all_findings(s);

	gmod_text_fmt(t, "%u finding%s", findings, gmod_plural(findings));
	for (int i = 0, n = 0; i < GMOD_CLASS_COUNT; i++)
		if (s->findings[i])
			gmod_text_fmt(t, "%s%s %u", n++ ? ", " : " (", gmod_class_name(i), s->findings[i]);
	gmod_text_str(t, findings ? ")" : "");
}

/* A row of lib/base/counters.def; the rows follow each other as the numbers do. */
struct row {
	const char *key, *clause;
};
static const struct row rows[] = {
#define GMOD_COUNTER(name, key, clause) {key, clause},
#include "lib/base/counters.def"
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

/* What follows them, in ms. */
struct cost_row {
	const char *key;
	uint64_t ms;
};
enum { COSTS = 4 };

static void cost_rows(const struct gmod_run_summary *s, struct cost_row rows[COSTS])
{
	struct gmod_cost cost = gmod_cost_of(&s->count);

	rows[0] = (struct cost_row){"own_cpu_ms", cost.cpu_ns / 1000000};
	rows[1] = (struct cost_row){"own_hooks_ms", cost.hooks_ns / 1000000};
	rows[2] = (struct cost_row){"own_gpu_ms", cost.gpu_ns / 1000000};
	rows[3] = (struct cost_row){"run_ms", cost.run_ns / 1000000};
}
_Static_assert(sizeof(struct gmod_counts) == ROWS * sizeof(uint64_t), "a number for each row");

static void add_clause(struct gmod_text *t, const char *clause, const uint64_t *number)
{
	for (const char *at; (at = strchr(clause, '%')); clause = at + 2) {
		gmod_text_bytes(t, clause, (size_t)(at - clause));
		if (at[1] == 'n')
			gmod_text_fmt(t, "%llu", (ull)number[0]);
		else if (at[1] == 's')
			gmod_text_str(t, gmod_plural(number[0]));
		else
			gmod_text_size(t, number[1]);
	}
	gmod_text_str(t, clause);
}

/* Where GMOD can see next to nothing of a program, it has a way out. */
static bool is_one_mapping(const struct gmod_run_summary *s)
{
	return s->count.mapping_bytes / 9 > (gmod_summary_bytes(s) - s->count.mapping_bytes);
}

static int is_pytorch(struct dl_phdr_info *o, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	return strstr(o->dlpi_name, "/libc10_cuda.so") != NULL;
}

/* Its buffers hold many tensors. */
static bool has_pool;

void gmod_summary_begin(void)
{
	has_pool = !getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") && gmod_loaded_walk(is_pytorch, NULL);
}

static void add_seconds(struct gmod_text *t, uint64_t ns, const char *of)
{
	gmod_text_fmt(t, "%llu.%02llu s%s", (ull)(ns / 1000000000), (ull)(ns / 10000000 % 100), of);
}

static void add_cost(struct gmod_text *t, const struct gmod_run_summary *s)
{
	struct gmod_cost cost = gmod_cost_of(&s->count);

	if (!cost.run_ns)
		return;
	gmod_text_str(t, "; own cost: ");
	add_seconds(t, cost.cpu_ns, " of CPU, some ");
	add_seconds(t, cost.hooks_ns, " in hooks and ");
	add_seconds(t, cost.gpu_ns, " of the GPU, in ");
	add_seconds(t, cost.run_ns, "");
}

void gmod_summary_text(const struct gmod_run_summary *s, struct gmod_text *t)
{
	const uint64_t *number = (const uint64_t *)&s->count;

	gmod_text_fmt(t, "==%d==GMOD: ", (int)getpid());
	add_guarded(t, s);
	gmod_text_fmt(t, "; %llu sweep%s; ", (ull)s->count.sweeps, gmod_plural(s->count.sweeps));
	add_findings(t, s);
	gmod_text_fmt(t, "; %llu degraded; %llu hooks armed", (ull)s->count.degraded, (ull)s->count.hooks_armed);
	for (int i = 0; i < ROWS; i++)
		if (number[i])
			add_clause(t, rows[i].clause, &number[i]);
	add_cost(t, s);
	if (gmod_options()->backend == GMOD_OPTION_BACKEND_FENCE && !all_findings(s)) {
		if (*gmod_options()->fence_sites)
			gmod_text_str(t, "; what fence_sites is to find did not come in this process: run it again, or "
					 "fence all by gmod --exact");
		gmod_text_str(t, "; not seen: reads, and in stream order stores, of what rounding up to fence_align "
				 "adds; shared and local memory, races, reads of what was never written, and jumps "
				 "from one buffer into another");
	}
	if (gmod_options()->per_tensor && gmod_summary_bytes(s) && !s->count.ordered_all)
		gmod_text_str(t,
			      "; per-tensor guarding did not take effect: the program uses no such framework, or sets "
			      "its allocator itself, as by expandable_segments:True (gmod(1), FRAMEWORKS)");
	else if (is_one_mapping(s))
		gmod_text_str(t, "; nearly all of it is mappings: gmod --per-tensor has a framework allocate each "
				 "tensor instead");
	else if (has_pool && s->count.guarded && !s->count.ordered_all)
		gmod_text_str(t, "; PyTorch cuts tensors out of these buffers: gmod --per-tensor guards some of the "
				 "tensors, with --hunt all");
	gmod_text_str(t, "\n");
}

void gmod_summary_json(const struct gmod_run_summary *s, struct gmod_text *t)
{
	const uint64_t *number = (const uint64_t *)&s->count;
	ull asked = s->count.guarded_bytes + s->count.fallback_bytes;
	struct cost_row cost[COSTS];

	gmod_log_event(t, "summary");
	for (int i = 0; i < ROWS; i++)
		gmod_text_fmt(t, ",\"%s\":%llu", rows[i].key, (ull)number[i]);
	gmod_text_fmt(t, ",\"bytes_asked\":%llu,\"guarded_permille\":", asked);
	gmod_text_fmt(t, gmod_summary_bytes(s) ? "%u" : "null", permille(s));
	cost_rows(s, cost);
	for (int i = 0; i < COSTS; i++)
		gmod_text_fmt(t, ",\"%s\":%llu", cost[i].key, (ull)cost[i].ms);
	gmod_text_fmt(t, ",\"findings\":%u,\"findings_by_class\":{", all_findings(s));
	for (int i = 0; i < GMOD_CLASS_COUNT; i++)
		gmod_text_fmt(t, "%s\"%s\":%u", i ? "," : "", gmod_class_name(i), s->findings[i]);
	gmod_text_str(t, "}}\n");
}

/* Host and rank, too: the first process of each container has the number 1. */
static void add_sample(struct gmod_text *t, const char *name, const char *label, const char *value)
{
	gmod_text_fmt(t, "gmod_%s{pid=\"%d\",host=", name, (int)getpid());
	gmod_text_json(t, gmod_origin.host, 64);
	if (*gmod_origin.rank)
		gmod_text_fmt(t, ",rank=\"%s\"", gmod_origin.rank);
	if (label)
		gmod_text_fmt(t, ",%s=\"%s\"", label, value);
	gmod_text_str(t, "} ");
}

static void add_ratio(struct gmod_text *t, const char *kind, uint64_t part, uint64_t whole)
{
	unsigned share = share_of(part, whole);

	if (!whole)
		return;
	add_sample(t, "guarded_ratio", "kind", kind);
	gmod_text_fmt(t, "%u.%03u\n", share / 1000, share % 1000);
}

static void add_total(struct gmod_text *t, const char *key, uint64_t number)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_total", key);
	gmod_text_fmt(t, "# TYPE gmod_%s counter\n", name);
	add_sample(t, name, NULL, NULL);
	gmod_text_fmt(t, "%llu\n", (ull)number);
}

static void add_samples(const struct gmod_run_summary *s, bool has_ended, struct gmod_text *t)
{
	const uint64_t *number = (const uint64_t *)&s->count;
	struct cost_row cost[COSTS];

	for (int i = 0; i < ROWS; i++)
		add_total(t, rows[i].key, number[i]);
	cost_rows(s, cost);
	for (int i = 0; i < COSTS; i++)
		add_total(t, cost[i].key, cost[i].ms);
	gmod_text_str(t, "# TYPE gmod_findings_total counter\n");
	for (int i = 0; i < GMOD_CLASS_COUNT; i++) {
		add_sample(t, "findings_total", "class", gmod_class_name(i));
		gmod_text_fmt(t, "%u\n", s->findings[i]);
	}
	gmod_text_str(t, "# TYPE gmod_ended gauge\n");
	add_sample(t, "ended", NULL, NULL);
	gmod_text_fmt(t, "%d\n", has_ended);
	gmod_text_str(t, "# TYPE gmod_guarded_ratio gauge\n");
	add_ratio(t, "all", gmod_summary_guarded(s), gmod_summary_bytes(s));
	add_ratio(t, "device", s->count.guarded_bytes, s->count.guarded_bytes + s->count.fallback_bytes);
	add_ratio(t, "stream-order", s->count.ordered_bytes, s->count.ordered_all_bytes);
}

/* The holder of `writing` has all but the path. */
static struct {
	char path[PATH_MAX]; /* "": there is none */
	char aside[PATH_MAX + 16], text[16384];
	struct gmod_run_summary written;
	bool has_end;
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
	add_samples(s, file.has_end, &t);
	if (replace(&t)) {
		file.written = *s;
		return;
	}
	refuse(gmod_error_words(errno));
	unlink(file.aside);
}

uint64_t gmod_stats_write(const struct gmod_run_summary *s, bool ends)
{
	if (!file.path[0])
		return UINT64_MAX;
	if (gmod_lock(&file.writing)) {
		bool is_news = ends && !file.has_end;

		file.has_end |= ends;
		if (is_news || memcmp(&s->count, &file.written.count, sizeof(s->count)) ||
		    memcmp(s->findings, file.written.findings, sizeof(s->findings)))
			write_file(s);
		gmod_unlock(&file.writing);
	}
	return GMOD_SECONDS(5);
}
