#include "monitor/report/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* One line of the map. */
struct mapping {
	uint64_t start, end, file_offset;
	const char *path; /* "" if anonymous */
};

static bool take_hex(const char **s, char behind, uint64_t *value)
{
	const char *p = *s;

	for (*value = 0; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++)
		*value = *value << 4 | (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
	if (p == *s || *p != behind)
		return false;
	*s = p + 1;
	return true;
}

/* "55d0-55d8 r-xp 00001000 fd:01 131 /usr/bin/app" */
static bool parse_mapping(const char *line, struct mapping *m)
{
	if (!take_hex(&line, '-', &m->start) || !take_hex(&line, ' ', &m->end))
		return false;
	line += strcspn(line, " ");
	line += strspn(line, " ");
	if (!take_hex(&line, ' ', &m->file_offset))
		return false;
	for (int field = 0; field < 2; field++) { /* device, inode */
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	m->path = line;
	return true;
}

/* Where the last part of a path begins, and how long it is without the kernel's " (deleted)". */
static const char *base_name(const char *path, size_t *len)
{
	static const char deleted[] = " (deleted)";
	const char *slash = strrchr(path, '/'), *name = path[0] == '/' && slash ? slash + 1 : path;
	size_t n = strlen(name), d = sizeof(deleted) - 1;

	*len = n > d && memcmp(name + n - d, deleted, d) == 0 ? n - d : n;
	return name;
}

static void copy_cut(char *out, size_t cap, const char *s, size_t n)
{
	if (n > cap - 1)
		n = cap - 1;
	memcpy(out, s, n);
	out[n] = '\0';
}

/*
 * What the walk over the map remembers: the file whose mappings it is among. They follow each other, anonymous ones
 * between them; the first one of a file is where it is loaded (small files have a second one with file offset 0).
 */
struct walk {
	char path[sizeof(((struct gmod_symbol_module *)0)->path)];
	size_t path_len; /* of the whole path, which may be longer than path[] */
	uint64_t base;
	uint32_t index;    /* in scratch->module, GMOD_MODULES_MAX: not there yet */
	uint32_t unplaced; /* frames */
};

static void enter_mapping(struct walk *w, const struct mapping *m)
{
	size_t len = strlen(m->path);

	if (len == 0 || (len == w->path_len && strncmp(m->path, w->path, sizeof(w->path) - 1) == 0))
		return;
	copy_cut(w->path, sizeof(w->path), m->path, len);
	w->path_len = len;
	w->base = m->file_offset < m->start ? m->start - m->file_offset : m->start;
	w->index = GMOD_MODULES_MAX;
}

static void add_module(struct walk *w, struct gmod_symbol_scratch *s)
{
	size_t name_len, len = strlen(w->path);
	const char *name = base_name(w->path, &name_len);
	bool is_file = w->path[0] == '/' && w->path_len == len && name + name_len == w->path + len;
	struct gmod_symbol_module *m;

	if (s->modules == GMOD_MODULES_MAX)
		return;
	w->index = s->modules++;
	m = &s->module[w->index];
	copy_cut(m->path, sizeof(m->path), w->path, is_file ? len : 0);
	m->base = w->base;
}

static void place_frames(struct walk *w, const struct mapping *m, struct gmod_frames *frames,
			 struct gmod_symbol_scratch *s)
{
	for (uint32_t i = 0; i < frames->depth; i++) {
		struct gmod_frame *f = &frames->frame[i];
		const char *name;
		size_t len;

		if (f->pc < m->start || f->pc >= m->end)
			continue;
		w->unplaced--;
		if (!*m->path)
			continue;
		if (w->index == GMOD_MODULES_MAX)
			add_module(w, s);
		name = base_name(m->path, &len);
		copy_cut(f->module, sizeof(f->module), name, len);
		f->offset = f->pc - w->base;
		s->module_of[i] = w->index;
		s->file_offset[i] = f->pc - m->start + m->file_offset;
	}
}

/* Take the whole lines out of buffer[0..len); returns how many bytes of an unfinished one were moved to its front. */
static size_t take_lines(struct walk *w, size_t len, struct gmod_frames *frames, struct gmod_symbol_scratch *s)
{
	char *line = s->buffer, *newline;
	struct mapping m;

	while ((newline = memchr(line, '\n', (size_t)(s->buffer + len - line)))) {
		*newline = '\0';
		if (parse_mapping(line, &m)) {
			enter_mapping(w, &m);
			place_frames(w, &m, frames, s);
		}
		line = newline + 1;
	}
	len = (size_t)(s->buffer + len - line);
	memmove(s->buffer, line, len);
	return len;
}

void gmod_maps_place(struct gmod_frames *frames, struct gmod_symbol_scratch *s)
{
	struct walk w = {.index = GMOD_MODULES_MAX, .unplaced = frames->depth};
	int fd = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
	size_t kept = 0;

	while (fd >= 0 && w.unplaced > 0 && kept < sizeof(s->buffer)) {
		ssize_t n = read(fd, s->buffer + kept, sizeof(s->buffer) - kept);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		kept = take_lines(&w, kept + (size_t)n, frames, s);
	}
	if (fd >= 0)
		close(fd);
}
