#include "lib/sweep/sweep.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/hash.h"

enum { DEEP = 8, LINE = 32768 };

pthread_mutex_t sweep_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels;

struct line {
	char text[LINE];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(l->text + l->length, sizeof(l->text) - l->length, format, arguments);
	va_end(arguments);
	l->length += more > 0 && l->length + more < sizeof(l->text) ? (size_t)more : 0;
}

/* One write: lines of several processes do not mix. Opened each time, since programs close what they do not know. */
static void put(struct line *l)
{
	const char *path = getenv("GMOD_SWEEP_JOURNAL");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

	add(l, "\n");
	if (fd < 0)
		return;
	if (write(fd, l->text, l->length) < 0)
		sweep_say(OUT_OF_MEMORY);
	close(fd);
}

static void add_text(struct line *l, const char *text)
{
	for (; *text; text++)
		if (*text != '"' && *text != '\\' && (unsigned char)*text >= ' ')
			add(l, "%c", *text);
}

uint64_t sweep_tell_site(void)
{
	static uint64_t told[4096];
	static const char *here;
	void *frame[DEEP + 4];
	int count = backtrace(frame, DEEP + 4), frames = 0;
	struct line l = {.length = 0};
	uint64_t site = gmod_hash_bytes(GMOD_HASH_START, frame, (size_t)count * sizeof(frame[0]));
	struct link_map *map;
	Dl_info info;

	if (told[site % 4096] == site)
		return site;
	told[site % 4096] = site;
	if (!here && dladdr((void *)sweep_tell_site, &info))
		here = info.dli_fname;
	add(&l, "{\"site\":\"%016llx\",\"python\":[],\"frames\":[", (unsigned long long)site);
	for (int i = 0; i < count; i++) {
		char *call = (char *)frame[i] - 1; /* behind it stands the next line already */

		if (!dladdr1(call, &info, (void **)&map, RTLD_DL_LINKMAP) || !info.dli_fname || info.dli_fname == here)
			continue;
		add(&l, "%s{\"module\":\"", frames++ ? "," : "");
		add_text(&l, strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname);
		add(&l, "\",\"path\":\"");
		add_text(&l, info.dli_fname);
		add(&l, "\",\"offset\":\"0x%llx\",\"symbol\":", (unsigned long long)((uintptr_t)call - map->l_addr));
		add(&l, info.dli_sname ? "\"" : "null}");
		if (info.dli_sname) {
			add_text(&l, info.dli_sname);
			add(&l, "\"}");
		}
	}
	add(&l, "]}");
	put(&l);
	return site;
}

static void add_word(struct line *l, uint64_t value, bool whole)
{
	struct buffer *b = whole && value ? sweep_buffer_at((const char *)value) : NULL;

	if (b)
		add(l, "{\"offset\":%lld,\"size\":%zu,\"memory\":\"%s\",\"site\":\"%016llx\"}",
		    (long long)((const char *)value - b->at), b->size, b->memory, (unsigned long long)b->site);
	else
		add(l, "\"%016llx\"", (unsigned long long)__builtin_bswap64(value));
}

void sweep_tell_launch(struct kernel *k, dim3 grid, dim3 block, size_t shared, void **arguments)
{
	uint64_t word[WORDS] = {0};
	bool whole[WORDS] = {false}; /* a word of one parameter, which may be a pointer */
	struct line l = {.length = 0};
	unsigned words = 0;
	uint64_t hash;

	for (unsigned i = 0; i < k->parameters; i++) {
		unsigned offset = k->parameter[i].offset, size = k->parameter[i].size;

		memcpy((char *)word + offset, arguments[i], size);
		words = (offset + size + 7) / 8 > words ? (offset + size + 7) / 8 : words;
		for (unsigned at = (offset + 7) / 8 * 8; at + 8 <= offset + size; at += 8)
			whole[at / 8] = true;
	}
	add(&l,
	    "{\"launch\":%u,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"cluster\":[0,0,0],\"shared\":%zu,\"capability\":"
	    "%d,"
	    "\"graph\":false,\"words\":[",
	    k->number, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, CAPABILITY);
	for (unsigned i = 0; i < words; i++) {
		add(&l, i ? "," : "");
		add_word(&l, word[i], whole[i]);
	}
	add(&l, "]}");
	hash = gmod_hash_bytes(GMOD_HASH_START, l.text, l.length);
	for (unsigned i = 0; i < k->lines; i++)
		if (k->seen[i] == hash)
			return;
	k->seen[k->lines++] = hash;
	put(&l);
}

void sweep_tell_refused(const char *name)
{
	static const char *told[64];
	struct line l = {.length = 0};
	int i = 0;

	while (i < 64 && told[i] && told[i] != name)
		i++;
	if (i == 64 || told[i])
		return;
	told[i] = name;
	add(&l, "{\"unsupported\":\"%s\"}", name);
	put(&l);
}

/* ---- what there is to be launched ---- */

/* false: it is not looked at. */
static bool read_kernel(struct kernel *k, char *text)
{
	char *rest, *word = strtok_r(text, " \n", &rest), *number = strtok_r(NULL, " \n", &rest);

	k->name = word && number ? strdup(word) : NULL;
	if (!k->name)
		return false;
	k->number = (unsigned)strtoul(number, NULL, 10);
	while (k->parameters < PARAMETERS && (word = strtok_r(NULL, " \n", &rest))) {
		char *size;
		unsigned long offset = strtoul(word, &size, 10), bytes = strtoul(*size ? size + 1 : size, NULL, 10);

		if (offset + bytes > WORDS * 8)
			return false;
		k->parameter[k->parameters].offset = (unsigned)offset;
		k->parameter[k->parameters++].size = (unsigned)bytes;
	}
	return !word;
}

void sweep_read_kernels(const char *path)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	char *text = NULL;
	size_t room = 0;

	while (file && getline(&text, &room, file) > 0) {
		struct kernel *k = calloc(1, sizeof(*k));

		if (k && read_kernel(k, text)) {
			k->next = kernels;
			kernels = k;
		} else if (k) {
			free(k->name);
			free(k);
		}
	}
	free(text);
	if (file)
		fclose(file);
}

struct kernel *sweep_kernel(const char *name)
{
	struct kernel *k = kernels;

	while (k && strcmp(k->name, name) != 0)
		k = k->next;
	return k;
}
