#include "monitor/symbol.h"

#include "lib/log.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SECTIONS_MAX 4096
#define SEGMENTS_MAX 256
#define SYMBOLS_MAX (8u << 20)
#define NEST_MAX 128 /* of brackets in a mangled name */

/* ---- which module an address lies in: /proc/thread-self/maps ---- */

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

/* ---- which function: the symbol tables of an ELF file, which may hold anything ---- */

/* The best symbol so far for one frame. */
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

/* Translate the frames' file offsets into the file's addresses. */
static void find_addresses(int fd, const Elf64_Ehdr *h, const struct gmod_symbol_scratch *s, uint32_t module,
			   struct candidate *c, uint32_t depth)
{
	Elf64_Phdr p;

	for (unsigned n = 0; n < h->e_phnum && n < SEGMENTS_MAX; n++) {
		if (!read_at(fd, h->e_phoff + n * sizeof(p), &p, sizeof(p)))
			return;
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		for (uint32_t i = 0; i < depth; i++) {
			if (s->module_of[i] != module || s->file_offset[i] - p.p_offset >= p.p_filesz)
				continue;
			c[i].address = s->file_offset[i] - p.p_offset + p.p_vaddr;
			c[i].wanted = true;
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
		find_addresses(fd, &h, s, module, c, frames->depth);
		name_from(fd, &h, SHT_SYMTAB, c, frames, s); /* has the static functions, unless stripped */
		name_from(fd, &h, SHT_DYNSYM, c, frames, s);
	}
	close(fd);
}

void gmod_symbolize(struct gmod_frames *frames, const struct gmod_stack *stack, struct gmod_symbol_scratch *s)
{
	int saved = errno;

	frames->depth = stack->depth < GMOD_STACK_MAX ? stack->depth : GMOD_STACK_MAX;
	s->modules = 0;
	for (uint32_t i = 0; i < frames->depth; i++) {
		struct gmod_frame *f = &frames->frame[i];

		f->pc = stack->pc[i] - (stack->pc[i] != 0);
		f->offset = f->pc;
		f->module[0] = f->symbol[0] = '\0';
		s->module_of[i] = GMOD_MODULES_MAX;
	}
	place_all(frames, s);
	for (uint32_t m = 0; m < s->modules; m++)
		name_frames(m, frames, s);
	errno = saved;
}

/* ---- readable names: the Itanium C++ ABI, as far as names go ---- */

/*
 * A walk through a mangled name. Brackets (template arguments, nested names, ...) are skipped without being
 * understood: `open` holds the letters of those not closed yet, and no token is read past `end`.
 */
struct mangled {
	const char *at, *end;
	unsigned depth;
	char open[NEST_MAX];
};

static char peek(const struct mangled *m)
{
	return m->at < m->end ? *m->at : '\0';
}

static bool accept(struct mangled *m, char c)
{
	if (m->at >= m->end || *m->at != c)
		return false;
	m->at++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_digits(struct mangled *m)
{
	while (is_digit(peek(m)))
		m->at++;
}

/* <length><identifier>, the identifier's place given in *name. */
static bool take_source_name(struct mangled *m, const char **name, size_t *len)
{
	size_t n = 0;

	while (is_digit(peek(m)) && n < 1000000)
		n = n * 10 + (size_t)(*m->at++ - '0');
	if (n > (size_t)(m->end - m->at))
		return false;
	*name = m->at;
	*len = n;
	m->at += n;
	return true;
}

/* The rest of S_, S1A_, T_, T0_: a back reference. */
static bool skip_sequence(struct mangled *m)
{
	while (is_digit(peek(m)) || (peek(m) >= 'A' && peek(m) <= 'Z'))
		m->at++;
	return accept(m, '_');
}

static bool open_bracket(struct mangled *m, char kind)
{
	if (m->depth == NEST_MAX)
		return false;
	m->open[m->depth++] = kind;
	return true;
}

/* After 'D': a destructor, a builtin of two letters, or one of the constructs that hold an expression up to 'E'. */
static bool skip_d(struct mangled *m)
{
	char c = peek(m);

	if (m->at < m->end)
		m->at++;
	if (c == 't' || c == 'T' || c == 'O' || c == 'w')
		return open_bracket(m, c);
	if (c == 'v' || c == 'F' || c == 'B' || c == 'U') { /* Dv4_f, DF16_, DB8_ */
		skip_digits(m);
		(void)(accept(m, '_') || accept(m, 'b') || accept(m, 'x'));
	}
	return c != '\0';
}

/* After 'U': a lambda's parameters up to 'E', an unnamed type, or a vendor's qualifier (whose name comes next). */
static bool skip_u(struct mangled *m)
{
	if (accept(m, 'l'))
		return open_bracket(m, 'l');
	if (accept(m, 't')) {
		skip_digits(m);
		return accept(m, '_');
	}
	return true;
}

static bool close_bracket(struct mangled *m)
{
	if (m->open[--m->depth] == 'l') { /* {lambda}: its number follows */
		skip_digits(m);
		return accept(m, '_');
	}
	return true;
}

/* After '_': a discriminator _4 or __12_, else nothing. */
static bool skip_discriminator(struct mangled *m)
{
	if (accept(m, '_')) {
		skip_digits(m);
		return accept(m, '_');
	}
	if (is_digit(peek(m)))
		m->at++;
	return true;
}

/*
 * One token inside brackets. *type is set when it may have been the whole of a type, which matters in a literal
 * (L<type><value>E): its value has digits that are no lengths.
 */
static bool skip_token(struct mangled *m, bool *type)
{
	const char *name;
	size_t len;
	char c = peek(m);

	*type = !strchr("PRKVOA_", c);
	if (is_digit(c))
		return take_source_name(m, &name, &len);
	m->at++;
	switch (c) {
	case 'E':
		return close_bracket(m);
	case 'N':
	case 'I':
	case 'J':
	case 'X':
	case 'F':
	case 'Z':
		*type = false;
		return open_bracket(m, c);
	case 'L':
		*type = false;
		if (m->end - m->at >= 2 && m->at[0] == '_' && m->at[1] == 'Z') {
			m->at += 2;
			return open_bracket(m, 'Z');
		}
		return open_bracket(m, 'L');
	case 'S':
		if (!strchr("tabsiod", peek(m)) || peek(m) == '\0')
			return skip_sequence(m);
		*type = *m->at++ != 't';
		return true;
	case 'T':
		return accept(m, 's') || accept(m, 'u') || accept(m, 'e') || skip_sequence(m);
	case 'D':
		return skip_d(m);
	case 'U':
		return skip_u(m);
	case 'C':
		if (is_digit(peek(m)))
			m->at++;
		return true;
	case 'A':
		skip_digits(m);
		accept(m, '_');
		return true;
	case '_':
		return skip_discriminator(m);
	default:
		return c != '\0';
	}
}

/* Behind an opening letter: skip to behind its 'E'. */
static bool skip_brackets(struct mangled *m, char kind)
{
	bool type;

	m->depth = 0;
	if (!open_bracket(m, kind))
		return false;
	while (m->depth > 0) {
		if (m->at >= m->end || !skip_token(m, &type))
			return false;
		if (type && m->depth > 0 && m->open[m->depth - 1] == 'L' && peek(m) != 'I') {
			m->at = memchr(m->at, 'E', (size_t)(m->end - m->at));
			if (!m->at)
				return false;
			m->at++;
			m->depth--;
		}
	}
	return true;
}

/* A name in the making: what is readable of it, and the last identifier, which constructors repeat. */
struct readable {
	struct gmod_text text;
	const char *last;
	size_t last_len;
};

static void add_part(struct readable *r, const char *prefix, const char *s, size_t n)
{
	if (r->text.len > 0)
		gmod_text_str(&r->text, "::");
	gmod_text_str(&r->text, prefix);
	gmod_text_bytes(&r->text, s, n);
}

static void add_word(struct readable *r, const char *word)
{
	add_part(r, "", word, strlen(word));
}

static bool add_identifier(struct mangled *m, struct readable *r)
{
	static const char hidden[] = "_GLOBAL__N", internal[] = "_INTERNAL_"; /* the second is nvcc's */
	const char *s;
	size_t n;

	if (!take_source_name(m, &s, &n) || n == 0)
		return false;
	r->last = s;
	r->last_len = n;
	if (n >= sizeof(hidden) - 1 &&
	    (!memcmp(s, hidden, sizeof(hidden) - 1) || !memcmp(s, internal, sizeof(internal) - 1)))
		add_word(r, "(anonymous namespace)");
	else
		add_part(r, "", s, n);
	return true;
}

static bool add_standard(struct mangled *m, struct readable *r)
{
	static const char *const word[] = {"tstd",          "astd::allocator", "bstd::basic_string", "sstd::string",
					   "istd::istream", "ostd::ostream",   "dstd::iostream"};

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		if (!accept(m, word[i][0]))
			continue;
		add_word(r, word[i] + 1);
		return true;
	}
	return false;
}

static bool add_operator(struct mangled *m, struct readable *r)
{
	static const char *const known[] = {
	    "nw new", "na new[]", "dl delete", "da delete[]", "cl()", "ix[]",  "pt->", "pm->*", "pp++",  "mm--",
	    "ps+",    "ng-",      "ad&",       "de*",         "co~",  "nt!",   "pl+",  "mi-",   "ml*",   "dv/",
	    "rm%",    "an&",      "or|",       "eo^",         "ls<<", "rs>>",  "aa&&", "oo||",  "aS=",   "pL+=",
	    "mI-=",   "mL*=",     "dV/=",      "rM%=",        "aN&=", "oR|=",  "eO^=", "lS<<=", "rS>>=", "eq==",
	    "ne!=",   "lt<",      "gt>",       "le<=",        "ge>=", "ss<=>", "cm,",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (m->end - m->at < 2 || m->at[0] != known[i][0] || m->at[1] != known[i][1])
			continue;
		m->at += 2;
		add_part(r, "operator", known[i] + 2, strlen(known[i] + 2));
		return true;
	}
	return false;
}

/* Constructors and destructors repeat the class's name: C1, C2, D0, D1 ... */
static bool add_structor(struct mangled *m, struct readable *r)
{
	bool destructor = *m->at++ == 'D';

	if (!r->last || !is_digit(peek(m)))
		return false;
	m->at++;
	add_part(r, destructor ? "~" : "", r->last, r->last_len);
	return true;
}

/* One component of a name: an identifier, an operator, ... or something that is left out, like template arguments. */
static bool add_component(struct mangled *m, struct readable *r)
{
	const char *tag;
	size_t len;

	if (accept(m, 'L')) /* internal linkage */
		return is_digit(peek(m)) && add_identifier(m, r);
	if (accept(m, 'I'))
		return r->text.len > 0 && skip_brackets(m, 'I');
	if (accept(m, 'B')) /* an ABI tag */
		return is_digit(peek(m)) && take_source_name(m, &tag, &len);
	if (accept(m, 'S'))
		return add_standard(m, r);
	if (accept(m, 'U')) {
		add_word(r, peek(m) == 'l' ? "{lambda}" : "{unnamed}");
		if (!accept(m, 'l'))
			return peek(m) == 't' && skip_u(m);
		return skip_brackets(m, 'l');
	}
	if (is_digit(peek(m)))
		return add_identifier(m, r);
	if (peek(m) == 'C' || peek(m) == 'D')
		return add_structor(m, r);
	return add_operator(m, r);
}

static bool add_nested(struct mangled *m, struct readable *r)
{
	while (peek(m) && strchr("rVKRO", peek(m)))
		m->at++;
	while (!accept(m, 'E'))
		if (m->at >= m->end || !add_component(m, r))
			return false;
	return r->text.len > 0;
}

static bool add_unscoped(struct mangled *m, struct readable *r)
{
	bool in_std = accept(m, 'S');

	if (in_std && !add_standard(m, r))
		return false;
	if (!add_component(m, r))
		return false;
	while (peek(m) == 'B' || peek(m) == 'I')
		if (!add_component(m, r))
			return false;
	return true;
}

/* Z <function> E <entity>: something inside a function. Entities nest, functions too, but not deeply in practice. */
static bool add_name(struct mangled *m, struct readable *r)
{
	unsigned locals = 0;

	while (accept(m, 'Z'))
		if (++locals > 4)
			return false;
	for (;;) {
		if (!(accept(m, 'N') ? add_nested(m, r) : add_unscoped(m, r)))
			return false;
		if (locals-- == 0)
			return true;
		if (!skip_brackets(m, 'Z'))
			return false;
		if (peek(m) == 's') /* a string literal of the function */
			return true;
	}
}

void gmod_short_name(const char *mangled, char *out, size_t cap)
{
	size_t len = strlen(mangled);
	struct mangled m = {mangled, mangled + len, 0, {0}};
	struct readable r = {.last = NULL};

	gmod_text_init(&r.text, out, cap);
	if (accept(&m, '_') && accept(&m, 'Z') && add_name(&m, &r))
		return;
	copy_cut(out, cap, mangled, len);
}

static bool is_identifier(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_digit(s[i]) && s[i] != '_' && !((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z'))
			return false;
	return n > 0;
}

bool gmod_kernel_substring(const char *mangled, char *out, size_t cap)
{
	size_t begin, end;

	gmod_short_name(mangled, out, cap);
	for (end = strlen(out);; end = begin - 2) {
		for (begin = end; begin > 0 && out[begin - 1] != ':'; begin--)
			;
		if (is_identifier(out + begin, end - begin)) {
			memmove(out, out + begin, end - begin);
			out[end - begin] = '\0';
			return true;
		}
		if (begin < 2)
			break;
	}
	out[0] = '\0';
	return false;
}
