#include "monitor/report/symbol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/base/object.h"

static void copy_cut(char *out, size_t cap, const char *s)
{
	size_t n = strnlen(s, cap - 1);

	memcpy(out, s, n);
	out[n] = '\0';
}

/* The loader's path of a module; the program itself has none there. */
static void copy_path(struct gmod_symbol_scratch *s, const char *path)
{
	ssize_t n;

	copy_cut(s->path, sizeof(s->path), path);
	if (*path)
		return;
	n = readlink("/proc/thread-self/exe", s->path, sizeof(s->path) - 1);
	s->path[n > 0 ? n : 0] = '\0';
	if (n <= 0) /* there is no /proc */
		copy_cut(s->path, sizeof(s->path), (const char *)getauxval(AT_EXECFN) ?: "");
}

/* In the first page, where linkers put it, behind the headers. Of 20 bytes, as they make it, or what it has of them. */
static void find_build_id(struct gmod_symbol_scratch *s)
{
	const char *at = (const char *)s->start + sizeof(s->header), *end = (const char *)s->start + 4096;
	struct {
		Elf64_Nhdr h;
		char name[4];
		unsigned char id[20];
	} note;
	struct gmod_text t;

	gmod_text_init(&t, s->build_id, sizeof(s->build_id));
	for (; t.len == 0 && (size_t)(end - at) >= sizeof(note); at += 4) {
		memcpy(&note, at, sizeof(note));
		if (note.h.n_type != NT_GNU_BUILD_ID || memcmp(note.name, ELF_NOTE_GNU, sizeof(note.name)) != 0)
			continue;
		for (size_t i = 0; i < sizeof(note.id) && i < note.h.n_descsz; i++)
			gmod_text_fmt(&t, "%02x", note.id[i]);
	}
}

/* Fill in *s for the module that an address lies in; false: it lies in none, like generated code. */
static bool find_module(uintptr_t pc, struct gmod_symbol_scratch *s)
{
	struct gmod_object found;

	if (!gmod_object_at(pc, &found))
		return false;
	s->start = found.start;
	s->end = found.end;
	s->bias = found.bias;
	memcpy(&s->header, (void *)found.start, sizeof(s->header));
	copy_path(s, found.path);
	find_build_id(s);
	return true;
}

/* ---- what the file calls it ---- */

/* The best function so far for one frame, from the symbol tables of an ELF file, which may hold anything. */
struct candidate {
	uint64_t value;
	uint32_t name;
	bool wanted, found, global;
};

static bool read_at(int fd, uint64_t offset, void *out, size_t len)
{
	return pread(fd, out, len, (off_t)offset) == (ssize_t)len;
}

/* The innermost covering function wins; of two at one address, the one that others can call. */
static void consider(struct candidate *c, const struct gmod_frames *frames, const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info);
	bool global = ELF64_ST_BIND(sym->st_info) == STB_GLOBAL;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym->st_shndx == SHN_UNDEF || sym->st_name == 0)
		return;
	for (uint32_t i = 0; i < frames->depth; i++, c++) {
		if (!c->wanted || frames->frame[i].offset - sym->st_value >= sym->st_size)
			continue;
		if (c->found && (sym->st_value < c->value || (sym->st_value == c->value && (c->global || !global))))
			continue;
		c->value = sym->st_value;
		c->name = sym->st_name;
		c->global = global;
		c->found = true;
	}
}

static void scan_symbols(int fd, const Elf64_Shdr *table, struct candidate *c, const struct gmod_frames *frames,
			 struct gmod_symbol_scratch *s)
{
	const uint64_t total = table->sh_size / sizeof(Elf64_Sym), batch = sizeof(s->symbol) / sizeof(s->symbol[0]);

	for (uint64_t first = 0, n; first < total; first += n) {
		n = total - first < batch ? total - first : batch;
		if (!read_at(fd, table->sh_offset + first * sizeof(Elf64_Sym), s->symbol, n * sizeof(Elf64_Sym)))
			return;
		for (uint64_t i = 0; i < n; i++)
			consider(c, frames, &s->symbol[i]);
	}
}

static bool read_section(int fd, const Elf64_Ehdr *h, uint32_t index, Elf64_Shdr *out)
{
	return index < h->e_shnum && read_at(fd, h->e_shoff + index * sizeof(*out), out, sizeof(*out));
}

static bool find_section(int fd, const Elf64_Ehdr *h, uint32_t type, Elf64_Shdr *out)
{
	for (uint32_t i = 0; i < h->e_shnum; i++)
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
static void name_from(int fd, uint32_t type, struct candidate *c, struct gmod_frames *frames,
		      struct gmod_symbol_scratch *s)
{
	Elf64_Shdr table, strings;

	if (!find_section(fd, &s->header, type, &table) || !read_section(fd, &s->header, table.sh_link, &strings) ||
	    strings.sh_type != SHT_STRTAB)
		return;
	scan_symbols(fd, &table, c, frames, s);
	for (uint32_t i = 0; i < frames->depth; i++) {
		if (!c[i].found)
			continue;
		copy_name(fd, &strings, c[i].name, frames->frame[i].symbol);
		c[i].found = c[i].wanted = false;
	}
}

/* The file that the path names may be another one by now: then its names would be false. */
static void name_frames(struct candidate *c, struct gmod_frames *frames, struct gmod_symbol_scratch *s)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	Elf64_Ehdr h;

	if (fd < 0)
		return;
	if (read_at(fd, 0, &h, sizeof(h)) && memcmp(&h, &s->header, sizeof(h)) == 0) {
		name_from(fd, SHT_SYMTAB, c, frames, s); /* has the static functions, unless stripped */
		name_from(fd, SHT_DYNSYM, c, frames, s);
	}
	close(fd);
}

/* All the frames of the stack that lie in the same module as this one. */
static void symbolize_module(uint32_t first, struct gmod_frames *frames, struct gmod_symbol_scratch *s)
{
	struct candidate c[GMOD_STACK_MAX] = {0};
	const char *slash;

	if (!find_module(frames->frame[first].pc, s))
		return;
	slash = strrchr(s->path, '/');
	for (uint32_t i = first; i < frames->depth; i++) {
		struct gmod_frame *f = &frames->frame[i];

		if (f->pc < s->start || f->pc >= s->end)
			continue;
		copy_cut(f->module, sizeof(f->module), slash ? slash + 1 : s->path);
		copy_cut(f->path, sizeof(f->path), s->path);
		memcpy(f->build_id, s->build_id, sizeof(f->build_id));
		f->offset = f->pc - s->bias;
		c[i].wanted = true;
	}
	name_frames(c, frames, s);
}

/* ---- what people want to see ---- */

/* The runtime that is linked into the program, and the driver's functions where they have a stub there. */
bool gmod_is_program_frame(const struct gmod_frame *f)
{
	static const char *const other[] = {"libcuda.so", "libcudart", "libgmod.so", "libc.so",
					    "libpthread", "libffi",    "_ctypes.",   NULL};
	/* CUDA's headers have wrappers for C++, which are static functions of the program: _ZL10cudaMallocIfE... */
	size_t prefix = strncmp(f->symbol, "_ZL", 3) == 0 ? 3 + strspn(f->symbol + 3, "0123456789") : 0;
	const char *name = f->symbol + prefix;
	size_t cuda = strncmp(name, "cuda", 4) == 0 ? 4 : strncmp(name, "cu", 2) == 0 ? 2 : 0;

	for (const char *const *o = other; *o; o++)
		if (strncmp(f->module, *o, strlen(*o)) == 0)
			return false;
	return f->module[0] && strncmp(f->symbol, "__cudart", 8) != 0 &&
	       strncmp(f->symbol, "libcudart_static_", 17) != 0 &&
	       !(cuda > 0 && name[cuda] >= 'A' && name[cuda] <= 'Z') && strcmp(f->symbol, "_start") != 0;
}

/* Of a Python program all or nothing: frames are of use where the user has written some, in no installed library. */
static void choose_shown(struct gmod_frames *frames)
{
	static const char *const installed[] = {"/usr/", "/lib64/", "-linux-gnu/", "-packages/", "/lib-dynload/", NULL};
	bool users = !frames->python;

	frames->shown = 0;
	for (uint32_t i = 0; i < frames->depth; i++) {
		const struct gmod_frame *f = &frames->frame[i];
		const char *const *in = installed;

		if (gmod_is_interpreter(frames, i) || (f->module[0] && !gmod_is_program_frame(f)))
			continue;
		frames->shown |= 1u << i;
		while (*in && !strstr(f->path, *in))
			in++;
		users |= f->module[0] && !*in;
	}
	if (!users)
		frames->shown = 0;
}

void gmod_symbolize(struct gmod_frames *frames, const struct gmod_stack *stack, struct gmod_symbol_scratch *s)
{
	int saved = errno;

	frames->python = gmod_python_stack(stack->python);
	frames->depth = stack->depth < GMOD_STACK_MAX ? stack->depth : GMOD_STACK_MAX;
	for (uint32_t i = 0; i < frames->depth; i++) {
		struct gmod_frame *f = &frames->frame[i];

		f->offset = f->pc = stack->pc[i] - (stack->pc[i] != 0);
		f->module[0] = f->path[0] = f->build_id[0] = f->symbol[0] = f->function[0] = '\0';
		f->lines = "";
	}
	for (uint32_t i = 0; i < frames->depth; i++)
		if (!frames->frame[i].module[0])
			symbolize_module(i, frames, s);
	choose_shown(frames);
	errno = saved;
}

/* ---- which of them is the site ---- */

const struct gmod_frame *gmod_site_frame(const struct gmod_frames *frames)
{
	for (uint32_t i = 0; i < frames->depth; i++)
		if (gmod_is_program_frame(&frames->frame[i]))
			return &frames->frame[i];
	return NULL;
}

void gmod_describe_site(const struct gmod_frames *frames, char *out, size_t cap)
{
	const struct gmod_frame *f = gmod_site_frame(frames);
	struct gmod_text t;

	gmod_text_init(&t, out, cap);
	if (frames->python) {
		gmod_python_text(&t, &frames->python->frame[0]);
	} else if (f) {
		gmod_frame_text(&t, f, " ");
		gmod_text_mark_cut(&t);
	} else {
		gmod_text_str(&t, "-");
	}
}
