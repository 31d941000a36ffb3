/* gmod-tool arch: whether LD_PRELOAD reaches a command. See lib/tool/tool.h. */
#include "lib/tool/tool.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
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

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define MACHINE_NAME "x86-64"
#else
#define MACHINE EM_AARCH64
#define MACHINE_NAME "aarch64"
#endif

struct elf_facts {
	bool is_ours;               /* a program of this machine, by the library's own kind of file */
	char interpreter[HEAD_MAX]; /* empty: it is statically linked */
};

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static void read_segments(int fd, const Elf64_Ehdr *header, struct elf_facts *facts)
{
	Elf64_Phdr segment;

	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (!read_at(fd, &segment, sizeof(segment), header->e_phoff + i * sizeof(segment)))
			return;
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz < sizeof(facts->interpreter))
			read_at(fd, facts->interpreter, segment.p_filesz, segment.p_offset);
	}
}

/* False: it is no ELF file. */
static bool read_elf(int fd, struct elf_facts *facts)
{
	Elf64_Ehdr header = {0};

	memset(facts, 0, sizeof(*facts));
	if (pread(fd, &header, sizeof(header), 0) < SELFMAG || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	facts->is_ours = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
			 header.e_machine == MACHINE && (header.e_type == ET_EXEC || header.e_type == ET_DYN);
	if (facts->is_ours)
		read_segments(fd, &header, facts);
	return true;
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

static int check_elf(const char *path, const struct elf_facts *facts)
{
	if (!facts->is_ours) {
		tool_say("%s is no 64-bit " MACHINE_NAME " program: %s cannot be loaded into it", path, library_name);
		return TOOL_USAGE;
	}
	if (!*facts->interpreter)
		tool_say("%s is statically linked: only the programs that it starts can be guarded", path);
	if (strstr(facts->interpreter, "ld-musl")) {
		tool_say("%s is linked against musl; %s needs the GNU C library", path, library_name);
		return TOOL_USAGE;
	}
	return 0;
}

/* ---- scripts ---- */

/* What no script begins with: the control characters that no text has. */
static bool is_binary(const char *head, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)head[i] < ' ' && !strchr("\a\b\t\n\v\f\r\033", head[i]))
			return true;
	return memchr(head, '\0', length) != NULL;
}

/* The file that runs a script, which execvp falls back to without a #! line. Of env no more is asked. */
static bool script_interpreter(const char *head, char *path, size_t size)
{
	if (strncmp(head, "#!", 2) != 0) {
		snprintf(path, size, "/bin/sh");
		return true;
	}
	head += 2 + strspn(head + 2, " \t");
	snprintf(path, size, "%.*s", (int)strcspn(head, " \t\n"), head);
	return *path;
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
		if (length > 0 && strncmp(head, "#!", 2) != 0 && is_binary(head, (size_t)length)) {
			tool_say("%s: neither a program nor a script", path);
			return TOOL_NOT_EXECUTABLE;
		}
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

int tool_arch(char **arguments)
{
	char path[4096];

	int status = find_command(arguments[0], path, sizeof(path));
	if (status != 0)
		return say_not_found(arguments[0], status);
	status = check_file(arguments[0], path, sizeof(path));
	if (status == 0 && named_in_preload() && !dlsym(RTLD_DEFAULT, "gmod_version")) {
		tool_say("the loader did not accept %s (LD_PRELOAD=%s)%s%s", library_name, getenv("LD_PRELOAD"),
			 arguments[1] ? "; " : "", arguments[1] ? arguments[1] : "");
		return TOOL_USAGE;
	}
	return status;
}
