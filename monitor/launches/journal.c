#include "monitor/launches/journal.h"

#include <elf.h>
#include <sys/stat.h>

#include "include/gmod.h"
#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/file.h"
#include "lib/base/map.h"
#include "lib/base/origin.h"
#include "lib/base/peek.h"
#include "monitor/launches/arguments.h"
#include "monitor/launches/history.h"
#include "monitor/launches/names.h"
#include "monitor/registry/index.h"

typedef unsigned long long ull;

enum { FUNCTIONS = 2048, PROBES = 16, KNOWN_BITS = 6, TOLD = 64, ALL = 1000, ONE_IN = 64 };
enum { WORDS = GMOD_SIGNATURE_BYTES / 8, SITES = 65536, LINE = 65536 };
#define QUEUE_BYTES (UINT64_C(128) << 20)
#define GIVEN_BACK (UINT64_C(1) << 20)
#define IMAGE_MAX (UINT64_C(256) << 20)

/*
 * The queue: pieces one behind the other in memory that is not used again, so that what comes when it is full is
 * dropped and counted. The number of an image or a function is where its piece ends.
 */
struct piece {
	_Atomic uint32_t size; /* with this head; 0: it is not there yet */
	enum kind { IMAGE, FUNCTION, LAUNCH, COUNT } kind;
	union {
		struct image {
			uint64_t size, is_linked;
			char *bytes; /* of gmod_map(), one more: whose reads the piece */
		} image;
		struct function {
			uint64_t image;                         /* 0: not known */
			const char *name;                       /* NULL: not known */
			const struct gmod_signature *signature; /* NULL: not known */
		} function;
		struct launch {
			uint64_t function, words; /* so many are there */
			struct gmod_journal_shape shape;
			struct word {
				uint64_t value, size;         /* in a buffer: the offset, and the buffer's size */
				const char *memory;           /* NULL: in none */
				const struct gmod_kept *site; /* a struct gmod_stack up to its depth; or NULL */
			} word[WORDS];
		} launch;
		struct count {
			uint64_t function, launches, looked_at;
		} count;
	};
};

/* Of a function. What stands behind busy is of the thread that has set it. */
static struct place {
	_Atomic uint64_t handle; /* 0: nobody's place */
	_Atomic uint64_t passed; /* launches by threads that have found it busy */
	atomic_flag busy;
	uint32_t told; /* of its launches */
	uint64_t launches, looked_at;
	uint64_t number, changes; /* gmod_signature_changes, and 1, when it was found what the handle stands for */
	struct function function;
	uint64_t last; /* a hash of its latest launch, as the program gave it */
	uint64_t seen[2 * TOLD];
	int32_t least[2 * WORDS], most[2 * WORDS];
	uint64_t buffers; /* that there ever were at its latest launch: where pointers lead changes when one comes */
	struct {
		uint64_t word;
		struct word leads;
	} known[1 << KNOWN_BITS];
	uint64_t words[WORDS]; /* as the program gave them */
	struct launch launch;
} * places;

static char *queue;
static uint64_t taken_so_far; /* bytes, by the thread that writes; what is taken just now ends there */
static _Atomic uint64_t put_so_far, dropped, unplaced;
static gmod_histories images;

/* ---- the queue ---- */

/* Its number; 0: it is dropped. */
static uint64_t put(enum kind kind, const void *what, size_t size)
{
	const uint64_t whole = (offsetof(struct piece, image) + size + 7) / 8 * 8;
	uint64_t at = atomic_load_explicit(&put_so_far, memory_order_relaxed);
	struct piece *p;

	do {
		if (at + whole > QUEUE_BYTES) {
			gmod_count(&dropped, 1);
			return 0;
		}
	} while (!atomic_compare_exchange_weak_explicit(&put_so_far, &at, at + whole, memory_order_relaxed,
							memory_order_relaxed));
	p = (void *)(queue + at);
	p->kind = kind;
	memcpy(&p->image, what, size);
	/* release: all of it is there for the thread that sees the size */
	atomic_store_explicit(&p->size, (uint32_t)whole, memory_order_release);
	return at + whole;
}

/* NULL: there is none yet. Pages that have been read are given back. */
static const struct piece *next(void)
{
	struct piece *p = (void *)(queue + taken_so_far);
	uint32_t size = taken_so_far < QUEUE_BYTES ? atomic_load_explicit(&p->size, memory_order_acquire) : 0;

	if (taken_so_far / GIVEN_BACK != (taken_so_far + size) / GIVEN_BACK)
		madvise(queue, taken_so_far / GIVEN_BACK * GIVEN_BACK, MADV_DONTNEED);
	taken_so_far += size;
	return size ? p : NULL;
}

/* ---- launches ---- */

/* Where a word leads if it points into a buffer, or beside it. */
static struct word find_buffer(uint64_t word)
{
	static const char *const memory[] = {"device", "managed", "pinned", "device"};
	struct gmod_found found = gmod_index_find_now(word);
	struct word plain = {.value = word}, w;
	const struct gmod_details *d;

	if (!found.record)
		return plain;
	d = gmod_record_details(found.record);
	w = (struct word){word - found.bounds.user, found.bounds.size, d->site ? "pool" : memory[d->memory & 3], NULL};
	if (d->stack.depth || d->stack.python)
		w.site = gmod_keep(&d->stack, offsetof(struct gmod_stack, pc) + d->stack.depth * sizeof(uintptr_t));
	/* acquire fence: what was read of the record belongs to the buffer if the word is the same still */
	atomic_thread_fence(memory_order_acquire);
	return gmod_record_live(found.record) == found.word ? w : plain;
}

static void find_pointers(struct place *f, const struct gmod_parameter *p)
{
	for (unsigned i = (p->offset + 7U) / 8; i < (p->offset + p->size) / 8U; i++) {
		unsigned at = (unsigned)(gmod_hash(f->words[i]) >> (64 - KNOWN_BITS));

		if (!gmod_may_be_address(f->words[i]))
			continue;
		if (f->known[at].word != f->words[i])
			f->known[at].leads = find_buffer(f->words[i]);
		f->known[at].word = f->words[i];
		f->launch.word[i] = f->known[at].leads;
	}
}

/* Is a word of 4 bytes the least or the greatest so far? */
static bool note_extremes(struct place *f)
{
	bool found = false;

	for (uint64_t i = 0; i < 2 * f->launch.words; i++) {
		const struct word *w = &f->launch.word[i / 2];
		int32_t half = w->memory ? 0 : (int32_t)(w->value >> i % 2 * 32);
		bool is_least = !f->told || half < f->least[i], is_most = !f->told || half > f->most[i];

		f->least[i] = is_least ? half : f->least[i];
		f->most[i] = is_most ? half : f->most[i];
		found |= is_least || is_most;
	}
	return found;
}

/* Its signature: is it news? */
static void look_closely(struct place *f, const struct gmod_journal_shape *shape)
{
	const struct gmod_signature *s = f->function.signature;
	struct launch *l = &f->launch;
	uint64_t hash;
	uint32_t i = 0;
	size_t size;

	l->function = f->number;
	l->shape = *shape;
	for (l->words = 0; l->words < s->bytes / 8; l->words++)
		l->word[l->words] = (struct word){.value = f->words[l->words]};
	for (int p = 0; p < s->count; p++)
		find_pointers(f, &s->at[p]);
	size = (size_t)((char *)&l->word[l->words] - (char *)l);
	hash = gmod_hash_quick(0, l, size);
	while (i < f->told && f->seen[i] != hash)
		i++;
	if (i == f->told && i < (note_extremes(f) ? 2 * TOLD : TOLD) && f->number && put(LAUNCH, l, size))
		f->seen[f->told++] = hash;
}

static void look_at(struct place *f, const struct gmod_journal_shape *shape, const char *arguments)
{
	uint64_t buffers = atomic_load_explicit(&gmod_counters.guarded, memory_order_relaxed) +
			   atomic_load_explicit(&gmod_counters.host, memory_order_relaxed) +
			   atomic_load_explicit(&gmod_counters.ordered, memory_order_relaxed);
	const struct gmod_signature *s = f->function.signature;
	uint64_t hash;

	for (int i = 0; i < s->count; i++) {
		const struct gmod_parameter *p = &s->at[i];

		if (p->size == 8)
			memcpy((char *)f->words + p->offset, arguments + p->offset, 8);
		else
			memcpy((char *)f->words + p->offset, arguments + p->offset, p->size);
	}
	if (f->buffers != buffers)
		memset(f->known, 0, sizeof(f->known));
	f->buffers = buffers;
	hash = gmod_hash_quick(gmod_hash_quick(buffers, shape, sizeof(*shape)), f->words, s->bytes);
	if (f->last != hash)
		look_closely(f, shape);
	f->last = hash;
	f->looked_at++;
}

static void tell_counts(struct place *f)
{
	uint64_t passed = atomic_exchange_explicit(&f->passed, 0, memory_order_relaxed);
	struct count c = {f->number, f->launches + passed, f->looked_at};

	if (f->number)
		put(COUNT, &c, sizeof(c));
}

/* What the handle stands for now: another function may have it since. */
static void learn(struct place *f, uint64_t handle, const struct gmod_signature *s)
{
	const struct gmod_kept *image = gmod_history_at(images, gmod_name_owner(handle), GMOD_LATEST, NULL);
	struct function now = {0, gmod_name_of(handle, GMOD_LATEST), s};

	if (image)
		memcpy(&now.image, image->bytes, sizeof(now.image));
	if (f->number && f->function.image == now.image && f->function.name == now.name &&
	    (!s || s == f->function.signature))
		return;
	tell_counts(f);
	f->function = now;
	f->number = put(FUNCTION, &now, sizeof(now));
	f->launches = f->looked_at = f->last = f->told = 0;
}

static struct place *place_of(uint64_t handle)
{
	for (unsigned i = 0; handle && i < PROBES; i++) {
		struct place *f = &places[((gmod_hash(handle) >> 32) + i) % FUNCTIONS];
		uint64_t there = atomic_load_explicit(&f->handle, memory_order_relaxed);

		if (!there)
			atomic_compare_exchange_strong_explicit(&f->handle, &there, handle, memory_order_relaxed,
								memory_order_relaxed);
		if (!there || there == handle)
			return f;
	}
	return NULL;
}

void gmod_journal_launch(uint64_t function, const struct gmod_journal_shape *shape, const struct gmod_signature *s,
			 const void *arguments)
{
	uint64_t changes = atomic_load_explicit(&gmod_signature_changes, memory_order_acquire) + 1;
	struct place *f = place_of(function);

	/* acquire: what the last one has written */
	if (!f || atomic_flag_test_and_set_explicit(&f->busy, memory_order_acquire)) {
		gmod_count(f ? &f->passed : &unplaced, 1);
		return;
	}
	if (f->changes != changes || (s && s != f->function.signature))
		learn(f, function, s);
	f->changes = changes;
	if (s && !s->is_cut && (f->launches < ALL || f->launches % ONE_IN == 0))
		look_at(f, shape, arguments);
	f->launches++;
	atomic_flag_clear_explicit(&f->busy, memory_order_release);
}

/* ---- images ---- */

/*
 * A fatbin's size stands behind the size of its head, and is without that; a wrapper has its address there. Compilers
 * put one of the two tables of an ELF file last.
 */
static uint64_t find_size(uintptr_t *image, size_t most)
{
	union {
		uint64_t word[8];
		Elf64_Ehdr elf;
	} h = {{0}};
	uint64_t segments, sections;

	gmod_peek(*image, &h, sizeof(h));
	if ((uint32_t)h.word[0] == 0x466243b1) {
		*image = h.word[1];
		if (gmod_peek(*image, &h, sizeof(h)) < 16)
			return 0;
	}
	if ((uint32_t)h.word[0] == 0xba55ed50)
		return (h.word[0] >> 48) + h.word[1];
	if (memcmp(h.elf.e_ident, ELFMAG, SELFMAG) != 0)
		return strnlen((const char *)*image, most);
	segments = h.elf.e_phoff + (uint64_t)h.elf.e_phnum * h.elf.e_phentsize;
	sections = h.elf.e_shoff + (uint64_t)h.elf.e_shnum * h.elf.e_shentsize;
	return segments > sections ? segments : sections;
}

void gmod_journal_loaded(uint64_t module, const void *image, size_t most, const char *file)
{
	uintptr_t at = (uintptr_t)image;
	struct image i = {.is_linked = !module};
	uint64_t number = 0;
	struct stat st;

	if (image)
		i.size = find_size(&at, most);
	else if (!stat(file, &st))
		i.size = (uint64_t)st.st_size;
	i.bytes = i.size && i.size <= IMAGE_MAX ? gmod_map(i.size + 1) : NULL;
	if (i.bytes &&
	    (image ? gmod_peek(at, i.bytes, i.size) : gmod_read_file(file, i.bytes, i.size)) == (ssize_t)i.size)
		number = put(IMAGE, &i, sizeof(i));
	if (i.bytes && !number)
		munmap(i.bytes, i.size + 1);
	/* Where it is not known, the handle must not have the image of an earlier module. */
	if (module)
		gmod_history_add(images, module, number ? gmod_keep(&number, sizeof(number)) : NULL, module);
}

/* ---- lines ---- */

/* Of the thread that writes. */
static struct {
	void (*add_stack)(struct gmod_text *t, const struct gmod_stack *stack);
	char room[LINE];
	struct gmod_text line;
	uint64_t sites[SITES]; /* hashes of those that were told, each at its place */
} lines;

#define add(...) gmod_text_fmt(&lines.line, __VA_ARGS__)

static void end_line(void)
{
	add("}\n");
	if (lines.line.full)
		gmod_count(&dropped, 1);
	else
		gmod_journal_write(lines.line.at, lines.line.len);
	gmod_text_init(&lines.line, lines.room, LINE);
}

static void tell_image(const struct image *i)
{
	uint64_t hash = gmod_hash_bytes(GMOD_HASH_START, i->bytes, i->size);

	gmod_journal_write_image(i->bytes, i->size, hash);
	munmap(i->bytes, i->size + 1);
	add("{\"image\":%llu,\"hash\":\"%016llx\",\"linked\":%s", (ull)taken_so_far, (ull)hash,
	    i->is_linked ? "true" : "false");
}

static void tell_function(const struct function *f)
{
	add(f->image ? "{\"function\":%llu,\"image\":%llu" : "{\"function\":%llu,\"image\":null", (ull)taken_so_far,
	    (ull)f->image);
	add(",\"name\":");
	gmod_text_json(&lines.line, f->name, LINE);
	add(",\"parameters\":%s", f->signature ? "[" : "null");
	for (int i = 0; f->signature && i < f->signature->count; i++)
		add("%s[%u,%u]", i ? "," : "", f->signature->at[i].offset, f->signature->at[i].size);
	add(f->signature ? "]" : "");
}

/* One whose place another one has taken since is told again. */
static void tell_site(const struct gmod_kept *site)
{
	if (!site || lines.sites[site->hash % SITES] == site->hash)
		return;
	lines.sites[site->hash % SITES] = site->hash;
	add("{\"site\":\"%016llx\"", (ull)site->hash);
	lines.add_stack(&lines.line, (const void *)site->bytes);
	end_line();
}

static void tell_launch(const struct launch *l)
{
	const struct gmod_journal_shape *s = &l->shape;

	for (uint64_t i = 0; i < l->words; i++)
		tell_site(l->word[i].site);
	add("{\"launch\":%llu,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"cluster\":[%u,%u,%u]", (ull)l->function,
	    s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2], s->cluster[0], s->cluster[1],
	    s->cluster[2]);
	add(",\"shared\":%u,\"capability\":%u,\"graph\":%s,\"words\":[", s->shared, s->capability,
	    s->is_graph ? "true" : "false");
	for (uint64_t i = 0; i < l->words; i++) {
		const struct word *w = &l->word[i];

		add(i ? "," : "");
		if (w->memory)
			add("{\"offset\":%lld,\"size\":%llu,\"memory\":\"%s\",\"site\":", (long long)w->value,
			    (ull)w->size, w->memory);
		if (w->memory)
			add(w->site ? "\"%016llx\"}" : "null}", w->site ? (ull)w->site->hash : 0);
		else
			add("\"%016llx\"", (ull)__builtin_bswap64(w->value));
	}
	add("]");
}

static void tell_pieces(void)
{
	for (const struct piece *p; (p = next()); end_line())
		if (p->kind == IMAGE)
			tell_image(&p->image);
		else if (p->kind == FUNCTION)
			tell_function(&p->function);
		else if (p->kind == LAUNCH)
			tell_launch(&p->launch);
		else
			add("{\"count\":%llu,\"launches\":%llu,\"looked_at\":%llu", (ull)p->count.function,
			    (ull)p->count.launches, (ull)p->count.looked_at);
}

static void tell_beginning(void)
{
	static char command[4096];
	ssize_t n = gmod_read_file("/proc/self/cmdline", command, sizeof(command) - 1);

	for (ssize_t i = 0; i + 1 < n; i++)
		command[i] = command[i] ? command[i] : ' ';
	gmod_text_init(&lines.line, lines.room, LINE);
	add("{\"journal\":\"gmod-journal-2\",\"gmod\":\"" GMOD_VERSION "\",\"rank\":%s,\"command\":",
	    *gmod_origin.rank ? gmod_origin.rank : "null");
	gmod_text_json(&lines.line, command, sizeof(command));
	add(",\"per_tensor\":%s", gmod_options()->per_tensor ? "true" : "false");
	end_line();
}

static void tell_end(void)
{
	for (struct place *f = places; f < places + FUNCTIONS; f++)
		if (!atomic_flag_test_and_set_explicit(&f->busy, memory_order_acquire))
			tell_counts(f);
	tell_pieces();
	add("{\"end\":true,\"launches\":%llu,\"dropped\":%llu",
	    (ull)atomic_load_explicit(&unplaced, memory_order_relaxed),
	    (ull)atomic_load_explicit(&dropped, memory_order_relaxed));
	end_line();
}

void gmod_journal_start(void (*add_stack)(struct gmod_text *t, const struct gmod_stack *stack))
{
	static const struct gmod_journal_source source = {tell_beginning, tell_pieces, tell_end};

	if (!*gmod_options()->journal)
		return;
	lines.add_stack = add_stack;
	places = gmod_map(FUNCTIONS * sizeof(*places));
	queue = gmod_map(QUEUE_BYTES);
	gmod_journal_open(places && queue ? &source : NULL);
}
