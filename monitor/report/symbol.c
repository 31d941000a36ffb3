#include "monitor/report/symbol.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define SECTIONS_MAX 4096
#define SEGMENTS_MAX 256
#define SYMBOLS_MAX (8u << 20)

/* ---- which file an address lies in ---- */

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

/*
 * Fill in module and offset (from its load address) of each frame whose pc lies in a file, and in *s the modules that
 * were met.
 */
static void place_all(struct gmod_frames *frames, struct gmod_symbol_scratch *s)
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

/* ---- what the file calls it ---- */

/* The best function so far for one frame, from the symbol tables of an ELF file, which may hold anything. */
struct candidate {
	uint64_t address; /* looked for, as the file counts */
	uint64_t value;
	uint32_t name;
	bool wanted, found, global;
};

static bool read_at(int fd, uint64_t offset, void *out, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(fd, (char *)out + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static bool read_header(int fd, Elf64_Ehdr *h)
{
	const unsigned char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	return read_at(fd, 0, h, sizeof(*h)) && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
	       h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_ident[EI_DATA] == native &&
	       h->e_phentsize == sizeof(Elf64_Phdr) && h->e_shentsize == sizeof(Elf64_Shdr);
}

/*
 * Translate the frames' file offsets into the file's addresses. Where these begin at 0 that is what the frames have
 * already; an executable that is linked to fixed addresses (-no-pie) begins elsewhere.
 */
static void find_addresses(int fd, const Elf64_Ehdr *h, const struct gmod_symbol_scratch *s, uint32_t module,
			   struct candidate *c, struct gmod_frames *frames)
{
	Elf64_Phdr p;

	for (unsigned n = 0; n < h->e_phnum && n < SEGMENTS_MAX; n++) {
		if (!read_at(fd, h->e_phoff + n * sizeof(p), &p, sizeof(p)))
			return;
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		for (uint32_t i = 0; i < frames->depth; i++) {
			if (s->module_of[i] != module || s->file_offset[i] - p.p_offset >= p.p_filesz)
				continue;
			c[i].address = s->file_offset[i] - p.p_offset + p.p_vaddr;
			c[i].wanted = true;
			frames->frame[i].offset = c[i].address;
		}
	}
}

/* The innermost covering function wins; of two at one address, the one that others can call. */
static void consider(struct candidate *c, uint32_t depth, const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info);
	bool global = ELF64_ST_BIND(sym->st_info) == STB_GLOBAL;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym->st_shndx == SHN_UNDEF || sym->st_name == 0)
		return;
	for (uint32_t i = 0; i < depth; i++, c++) {
		if (!c->wanted || c->address - sym->st_value >= sym->st_size)
			continue;
		if (c->found && (sym->st_value < c->value || (sym->st_value == c->value && (c->global || !global))))
			continue;
		c->value = sym->st_value;
		c->name = sym->st_name;
		c->global = global;
		c->found = true;
	}
}

static void scan_symbols(int fd, const Elf64_Shdr *table, struct candidate *c, uint32_t depth, char *buffer, size_t cap)
{
	uint64_t total = table->sh_size / sizeof(Elf64_Sym), batch = cap / sizeof(Elf64_Sym), n;
	Elf64_Sym sym;

	if (total > SYMBOLS_MAX)
		total = SYMBOLS_MAX;
	for (uint64_t first = 0; first < total; first += n) {
		n = total - first < batch ? total - first : batch;
		if (!read_at(fd, table->sh_offset + first * sizeof(sym), buffer, n * sizeof(sym)))
			return;
		for (uint64_t i = 0; i < n; i++) {
			memcpy(&sym, buffer + i * sizeof(sym), sizeof(sym));
			consider(c, depth, &sym);
		}
	}
}

static bool read_section(int fd, const Elf64_Ehdr *h, uint32_t index, Elf64_Shdr *out)
{
	return index < h->e_shnum && read_at(fd, h->e_shoff + index * sizeof(*out), out, sizeof(*out));
}

static bool find_section(int fd, const Elf64_Ehdr *h, uint32_t type, Elf64_Shdr *out)
{
	for (uint32_t i = 0; i < h->e_shnum && i < SECTIONS_MAX; i++)
		if (read_section(fd, h, i, out) && out->sh_type == type && out->sh_entsize == sizeof(Elf64_Sym))
			return true;
	return false;
}

static void copy_name(int fd, const Elf64_Shdr *strings, uint32_t at, char *out)
{
	size_t room = GMOD_SYMBOL_NAME_MAX - 1;
	ssize_t n = -1;

	if (at < strings->sh_size) {
		if (room > strings->sh_size - at)
			room = strings->sh_size - at;
		n = pread(fd, out, room, (off_t)(strings->sh_offset + at));
	}
	out[n > 0 ? n : 0] = '\0';
}

/* Name the frames that a table of this type covers; they are wanted no more. */
static void name_from(int fd, const Elf64_Ehdr *h, uint32_t type, struct candidate *c, struct gmod_frames *frames,
		      struct gmod_symbol_scratch *s)
{
	Elf64_Shdr table, strings;

	if (!find_section(fd, h, type, &table) || !read_section(fd, h, table.sh_link, &strings) ||
	    strings.sh_type != SHT_STRTAB)
		return;
	scan_symbols(fd, &table, c, frames->depth, s->buffer, sizeof(s->buffer));
	for (uint32_t i = 0; i < frames->depth; i++) {
		if (!c[i].found)
			continue;
		copy_name(fd, &strings, c[i].name, frames->frame[i].symbol);
		c[i].found = c[i].wanted = false;
	}
}

static void name_frames(uint32_t module, struct gmod_frames *frames, struct gmod_symbol_scratch *s)
{
	struct candidate c[GMOD_STACK_MAX] = {0};
	const char *path = s->module[module].path;
	int fd = *path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	Elf64_Ehdr h;

	if (fd < 0)
		return;
	if (read_header(fd, &h)) {
		find_addresses(fd, &h, s, module, c, frames);
		name_from(fd, &h, SHT_SYMTAB, c, frames, s); /* has the static functions, unless stripped */
		name_from(fd, &h, SHT_DYNSYM, c, frames, s);
	}
	close(fd);
}

static void symbolize(struct gmod_frames *frames, const struct gmod_stack *stack, struct gmod_symbol_scratch *s)
{
	frames->depth = stack->depth < GMOD_STACK_MAX ? stack->depth : GMOD_STACK_MAX;
	s->modules = 0;
	for (uint32_t i = 0; i < frames->depth; i++) {
		struct gmod_frame *f = &frames->frame[i];

		f->pc = stack->pc[i] - (stack->pc[i] != 0);
		f->offset = f->pc;
		f->module[0] = f->symbol[0] = f->function[0] = '\0';
		s->module_of[i] = GMOD_MODULES_MAX;
	}
	place_all(frames, s);
	for (uint32_t m = 0; m < s->modules; m++)
		name_frames(m, frames, s);
}

void gmod_symbolize(struct gmod_frames *frames, const struct gmod_stack *const *stacks, unsigned count,
		    struct gmod_symbol_scratch *scratch)
{
	int saved = errno;

	for (unsigned i = 0; i < count; i++)
		symbolize(&frames[i], stacks[i], scratch);
	errno = saved;
}
