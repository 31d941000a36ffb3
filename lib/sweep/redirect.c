#include "lib/sweep/sweep.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void *own; /* this library */

static int refuse(const char *name)
{
	pthread_mutex_lock(&sweep_lock);
	sweep_tell_refused(name);
	pthread_mutex_unlock(&sweep_lock);
	return sweep_say(NOT_SUPPORTED);
}

enum { JUMP = 24 };

/* Code that goes to a function, with one argument where `argument` is not NULL; no longer than JUMP bytes. */
static size_t write_jump(uint8_t *code, const void *to, const void *argument)
{
	size_t n = 0;
#if defined(__x86_64__)
	if (argument) {
		memcpy(code, "\x48\xbf", 2); /* movabs $argument, %rdi */
		memcpy(code + 2, &argument, 8);
		n = 10;
	}
	memcpy(code + n, "\x48\xb8", 2); /* movabs $to, %rax */
	memcpy(code + n + 2, &to, 8);
	memcpy(code + n + 10, "\xff\xe0", 2); /* jmp *%rax */
	return n + 12;
#else
	(void)code, (void)to, (void)argument, (void)n;
	return 0;
#endif
}

/* A function of the runtime that the executable has in itself leads here from now on. */
static void redirect(char *function, size_t size, const char *name)
{
	char plain[128];
	size_t length = strlen(name);
	uint8_t code[JUMP];
	char *first = (char *)((uintptr_t)function & ~(uintptr_t)4095);
	void *to;

	snprintf(plain, sizeof(plain), "%s", name);
	if (length < sizeof(plain) && length > 5 &&
	    (!strcmp(name + length - 5, "_ptsz") || !strcmp(name + length - 5, "_ptds")))
		plain[length - 5] = '\0';
	to = dlsym(own, plain);
	length = to ? write_jump(code, to, NULL) : write_jump(code, (void *)refuse, strdup(name));
	if (!length || size < length ||
	    mprotect(first, (size_t)(function - first) + length, PROT_READ | PROT_WRITE | PROT_EXEC))
		return;
	memcpy(function, code, length);
	__builtin___clear_cache(function, function + length);
}

static int first_object(struct dl_phdr_info *info, size_t size, void *bias)
{
	*(uintptr_t *)bias = info->dlpi_addr;
	return 1;
}

static bool is_of_runtime(const char *name)
{
	return (!strncmp(name, "cuda", 4) && name[4] >= 'A' && name[4] <= 'Z') || !strncmp(name, "__cuda", 6);
}

/* By the names that the executable has for its debugger. */
static void redirect_static_runtime(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat status;
	const char *file = MAP_FAILED;
	const Elf64_Shdr *section;
	uintptr_t bias = 0;

	if (fd >= 0 && !fstat(fd, &status) && (size_t)status.st_size > sizeof(Elf64_Ehdr))
		file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return;
	dl_iterate_phdr(first_object, &bias);
	section = (const Elf64_Shdr *)(file + ((const Elf64_Ehdr *)file)->e_shoff);
	for (int i = 0; i < ((const Elf64_Ehdr *)file)->e_shnum; i++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)(file + section[i].sh_offset);
		const char *names = file + section[section[i].sh_link].sh_offset;

		if (section[i].sh_type != SHT_SYMTAB)
			continue;
		for (size_t k = 0; k < section[i].sh_size / sizeof(*symbol); k++)
			if (ELF64_ST_TYPE(symbol[k].st_info) == STT_FUNC && symbol[k].st_value &&
			    is_of_runtime(names + symbol[k].st_name))
				redirect((char *)(bias + symbol[k].st_value), symbol[k].st_size,
					 names + symbol[k].st_name);
	}
	munmap((void *)file, (size_t)status.st_size);
}

/* Before the program's own constructors, which register what it has for the device. */
__attribute__((constructor)) static void begin(void)
{
	Dl_info info;

	sweep_read_kernels(getenv("GMOD_SWEEP_KERNELS"));
	/* By its own handle: an executable may export functions of these names. */
	if (dladdr((void *)begin, &info))
		own = dlopen(info.dli_fname, RTLD_NOW);
	if (own)
		redirect_static_runtime();
}
