/* gmod-tool arch: whether LD_PRELOAD reaches a command. See lib/tool/tool.h. */
#include "lib/tool/tool.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define HEAD_MAX 256   /* bytes of a #! line the kernel looks at */
#define SCRIPT_DEPTH 5 /* #! lines it follows */

static const char *const library_name = "libgmod.so";

/* ---- finding the command ---- */

/* The status execvp would end with for this file: 0 when it can be executed. */
static int executable_status(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return errno == EACCES ? TOOL_NOT_EXECUTABLE : TOOL_NOT_FOUND;
	if (!S_ISREG(status.st_mode) || access(path, X_OK) != 0)
		return TOOL_NOT_EXECUTABLE;
	return 0;
}

/* As execvp searches: a slash means a path, else the directories of PATH. Fills path when it returns 0. */
static int find_command(const char *name, char *path, size_t size)
{
	const char *search = getenv("PATH");
	int result = TOOL_NOT_FOUND;

	if (strchr(name, '/') || !*name) {
		snprintf(path, size, "%s", name);
		return *name ? executable_status(name) : TOOL_NOT_FOUND;
	}
	for (const char *at = search ? search : "/bin:/usr/bin";; at++) {
		size_t length = strcspn(at, ":");

		snprintf(path, size, "%.*s%s%s", (int)length, at, length ? "/" : "./", name);
		int status = executable_status(path);
		if (status == 0)
			return 0;
		if (status == TOOL_NOT_EXECUTABLE)
			result = status;
		at += length;
		if (!*at)
			return result;
	}
}

static int say_not_found(const char *name, int status)
{
	if (!*name)
		tool_say("the command's name is empty");
	else if (status != TOOL_NOT_FOUND)
		tool_say("%s: not an executable file", name);
	else
		tool_say("%s: %s", name, strchr(name, '/') ? "no such file" : "command not found");
	return status;
}

/* ---- what the file is ---- */

struct elf_facts {
	unsigned char class, data;
	uint16_t machine, type;
	bool whole; /* as far as it was looked at, nothing that the headers name is missing */
	bool has_interpreter;
	char interpreter[HEAD_MAX];
};

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* What the program headers of a 64-bit file say. */
static void read_segments(int fd, const Elf64_Ehdr *header, uint64_t file_size, struct elf_facts *facts)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_at(fd, &segment, sizeof(segment), header->e_phoff + i * sizeof(segment))) {
			facts->whole = false;
			return;
		}
		if (segment.p_type != PT_INTERP && segment.p_type != PT_LOAD)
			continue;
		if (segment.p_filesz > file_size || segment.p_offset > file_size - segment.p_filesz)
			facts->whole = false;
		if (segment.p_type != PT_INTERP)
			continue;
		facts->has_interpreter = true;
		if (segment.p_filesz < sizeof(facts->interpreter))
			read_at(fd, facts->interpreter, segment.p_filesz, segment.p_offset);
	}
}

static unsigned char own_byte_order(void)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
}

static uint16_t in_own_order(const struct elf_facts *facts, uint16_t value)
{
	return facts->data == own_byte_order() ? value : __builtin_bswap16(value);
}

/* False: it is no ELF file. */
static bool read_elf(int fd, struct elf_facts *facts)
{
	Elf64_Ehdr header = {0};
	struct stat status;
	ssize_t length = pread(fd, &header, sizeof(header), 0);

	memset(facts, 0, sizeof(*facts));
	if (length < SELFMAG || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || fstat(fd, &status) != 0)
		return false;
	facts->class = header.e_ident[EI_CLASS];
	facts->data = header.e_ident[EI_DATA];
	/* These two lie at the same place in 32-bit and 64-bit files; the rest of a foreign header is not looked at. */
	facts->machine = in_own_order(facts, header.e_machine);
	facts->type = in_own_order(facts, header.e_type);
	facts->whole = length >= (ssize_t)(facts->class == ELFCLASS32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr));
	if (facts->whole && facts->class == ELFCLASS64 && facts->data == own_byte_order() &&
	    header.e_phentsize == sizeof(Elf64_Phdr))
		read_segments(fd, &header, (uint64_t)status.st_size, facts);
	return true;
}

static const char *machine_name(uint16_t machine, char *other, size_t size)
{
	switch (machine) {
	case EM_386:
		return "i386";
	case EM_X86_64:
		return "x86-64";
	case EM_ARM:
		return "32-bit Arm";
	case EM_AARCH64:
		return "AArch64";
	case EM_PPC64:
		return "PowerPC 64";
	case EM_RISCV:
		return "RISC-V";
	default:
		snprintf(other, size, "ELF machine %u", machine);
		return other;
	}
}

/* ---- what speaks against preloading ---- */

/* With a foreign owner, group or capabilities the loader is in secure mode and ignores LD_PRELOAD. */
static const char *privilege(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return NULL;
	if ((status.st_mode & S_ISUID) && status.st_uid != getuid())
		return "set-user-ID";
	if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getgid())
		return "set-group-ID";
	if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return "a program with file capabilities";
	return NULL;
}

/* ld.so run by hand is linked to nothing and honours LD_PRELOAD all the same. */
static bool is_loader(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.", 3) == 0;
}

/* "64-bit x86-64"; the order of bytes is named where it makes the difference. */
static const char *describe(const struct elf_facts *facts, bool order, char *text, size_t size)
{
	char other[32];

	snprintf(text, size, "%s-bit %s%s", facts->class == ELFCLASS32 ? "32" : "64",
		 !order                       ? ""
		 : facts->data == ELFDATA2MSB ? "big-endian "
					      : "little-endian ",
		 machine_name(facts->machine, other, sizeof(other)));
	return text;
}

static bool read_own(struct elf_facts *own)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool known = fd >= 0 && read_elf(fd, own);

	if (fd >= 0)
		close(fd);
	return known;
}

static int check_elf(const char *path, const struct elf_facts *facts)
{
	struct elf_facts own;
	char theirs[64], ours[64];

	if (!facts->whole) {
		tool_say("%s is damaged: it is an ELF file that ends early", path);
		return TOOL_NOT_EXECUTABLE;
	}
	if (facts->type != ET_EXEC && facts->type != ET_DYN) {
		tool_say("%s is an ELF file, but not a program", path);
		return TOOL_NOT_EXECUTABLE;
	}
	if (read_own(&own) && (facts->class != own.class || facts->data != own.data || facts->machine != own.machine)) {
		bool order = facts->data != own.data;

		tool_say("%s is a %s program; this %s is for %s and cannot be loaded into it", path,
			 describe(facts, order, theirs, sizeof(theirs)), library_name,
			 describe(&own, order, ours, sizeof(ours)));
		return TOOL_USAGE;
	}
	if (!facts->has_interpreter && !is_loader(path)) {
		tool_say("%s is statically linked: no library can be preloaded into it", path);
		return TOOL_USAGE;
	}
	if (strstr(facts->interpreter, "ld-musl")) {
		tool_say("%s is linked against musl; %s needs the GNU C library", path, library_name);
		return TOOL_USAGE;
	}
	return 0;
}

/* ---- scripts ---- */

static char *next_word(char **text)
{
	char *word = *text + strspn(*text, " \t");
	char *end = word + strcspn(word, " \t");

	*text = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

/*
 * The file that runs a script: the word after #!, or, where that is env, the command that env is given. Without a #!
 * line it is what execvp falls back to. head is taken apart.
 */
static bool script_interpreter(char *head, char *path, size_t size)
{
	if (strncmp(head, "#!", 2) != 0) {
		snprintf(path, size, "/bin/sh");
		return true;
	}
	char *rest = head + 2;
	rest[strcspn(rest, "\n")] = '\0';
	char *interpreter = next_word(&rest);
	const char *name = strrchr(interpreter, '/');

	snprintf(path, size, "%s", interpreter);
	if (!name || strcmp(name, "/env") != 0)
		return *interpreter != '\0';
	char *word = next_word(&rest);
	while (*word == '-' || strchr(word, '='))
		word = next_word(&rest);
	return !*word || find_command(word, path, size) == 0;
}

static int check_file(const char *name, char *path, size_t size)
{
	for (int depth = 0; depth < SCRIPT_DEPTH; depth++) {
		char head[HEAD_MAX + 1] = "";
		struct elf_facts facts;
		const char *reason = privilege(path);
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return 0; /* may be executed but not read: nothing known speaks against it */
		bool is_elf = read_elf(fd, &facts);
		ssize_t length = is_elf ? 0 : pread(fd, head, HEAD_MAX, 0);
		close(fd);
		if (is_elf && reason) {
			tool_say("%s is %s: the loader ignores LD_PRELOAD for it", path, reason);
			return TOOL_USAGE;
		}
		if (is_elf)
			return check_elf(path, &facts);
		if (length < 0 || !script_interpreter(head, path, size))
			return 0;
		int status = executable_status(path);
		if (status != 0) {
			tool_say("%s: its interpreter %s %s", name, path,
				 status == TOOL_NOT_FOUND ? "does not exist" : "cannot be executed");
			return status;
		}
	}
	return 0;
}

/* ---- whether the loader took libgmod.so ---- */

static bool named_in_preload(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, library_name);
}

static int is_library(struct dl_phdr_info *info, size_t size __attribute__((unused)), void *found)
{
	if (info->dlpi_name && strstr(info->dlpi_name, library_name))
		*(bool *)found = true;
	return 0;
}

static bool library_loaded(void)
{
	bool found = false;

	dl_iterate_phdr(is_library, &found);
	return found;
}

int tool_arch(char **arguments)
{
	char path[4096];

	if (!arguments[0] || (arguments[1] && arguments[2])) {
		tool_say("usage: gmod-tool arch COMMAND [ADVICE]");
		return TOOL_USAGE;
	}
	int status = find_command(arguments[0], path, sizeof(path));
	if (status != 0)
		return say_not_found(arguments[0], status);
	status = check_file(arguments[0], path, sizeof(path));
	if (status == 0 && named_in_preload() && !library_loaded()) {
		tool_say("the loader did not accept %s (LD_PRELOAD=%s)%s%s", library_name, getenv("LD_PRELOAD"),
			 arguments[1] ? "; " : "", arguments[1] ? arguments[1] : "");
		return TOOL_USAGE;
	}
	return status;
}
