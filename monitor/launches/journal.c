#include "monitor/launches/journal.h"

#include <sys/stat.h>

#include "lib/base/counters.h"
#include "lib/base/file.h"
#include "lib/base/map.h"
#include "lib/base/peek.h"
#include "monitor/launches/history.h"
#include "monitor/launches/journal_image.h"
#include "monitor/launches/names.h"
#include "monitor/registry/index.h"

enum { KNOWN_BITS = 6, KNOWN = 1 << KNOWN_BITS };
enum { FUNCTIONS = 2048, PROBES = 16, SITES = 4096, GIVEN_BACK = 1 << 20 };
enum { TOLD = 64, SCALARS = 32, ALL = 1000, ONE_IN = 64 };
enum { ROOM = (GMOD_SIGNATURE_BYTES + GMOD_SIGNATURE_BYTES / 8 * sizeof(struct gmod_journal_pointer)) / 8 };

/* A launch with its words. */
struct room {
	uint64_t bytes[sizeof(struct gmod_journal_launch) / 8 + ROOM];
};

static struct gmod_journal_launch *in(struct room *r)
{
	return (void *)r->bytes;
}

/* Of the thread that has set busy, but for the handle. */
struct function {
	_Atomic uint64_t handle; /* 0: nobody's place */
	atomic_flag busy;
	_Atomic uint64_t launches, looked_at; /* the end reads them, too */
	uint64_t changes;                     /* gmod_signature_changes when it was found what the handle stands for */
	uint64_t last;                        /* a hash of its latest launch, as the program gave it */
	uint64_t seen[TOLD];
	uint32_t signatures, extremes; /* that were told */
	int64_t least[SCALARS], most[SCALARS];
	uint64_t buffers; /* that there ever were at its latest launch: where pointers lead changes when one comes */
	struct known {
		uint64_t word, buffers;
		struct gmod_journal_pointer pointer;
	} known[KNOWN];        /* by the word's hash */
	struct room now, kept; /* kept: the latest launch with extremes, if it has a function */
};

static struct function *functions;
static char *queue;
static int32_t (*device_of)(uint64_t context, int32_t *capability);
static _Atomic uint64_t put_so_far, dropped, uncounted, sites_told[SITES], image_ids, function_ids;
static gmod_histories images;

bool gmod_journal_init(int32_t (*device)(uint64_t context, int32_t *capability))
{
	device_of = device;
	functions = gmod_map(FUNCTIONS * sizeof(*functions));
	queue = gmod_map(GMOD_JOURNAL_BYTES);
	return functions && queue;
}

/* ---- the queue ---- */

static bool put(enum gmod_journal_kind kind, const void *what, size_t size)
{
	const uint64_t whole = (offsetof(struct gmod_journal_piece, image) + size + 7) / 8 * 8;
	uint64_t at = atomic_load_explicit(&put_so_far, memory_order_relaxed);
	struct gmod_journal_piece *p;

	do {
		if (at + whole > GMOD_JOURNAL_BYTES) {
			gmod_count(&dropped, 1);
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(&put_so_far, &at, at + whole, memory_order_relaxed,
							memory_order_relaxed));
	p = (void *)(queue + at);
	p->kind = kind;
	memcpy(&p->image, what, size);
	/* release: all of it is there for the thread that sees the size */
	atomic_store_explicit(&p->size, (uint32_t)whole, memory_order_release);
	return true;
}

const struct gmod_journal_piece *gmod_journal_next(uint64_t *position)
{
	struct gmod_journal_piece *p = (void *)(queue + *position);
	uint32_t size = *position < GMOD_JOURNAL_BYTES ? atomic_load_explicit(&p->size, memory_order_acquire) : 0;
	static uint64_t given_back;

	for (; *position - given_back > GIVEN_BACK; given_back += GIVEN_BACK)
		madvise(queue + given_back, GIVEN_BACK, MADV_DONTNEED);
	*position += size;
	return size ? p : NULL;
}

uint64_t gmod_journal_put_so_far(void)
{
	return atomic_load_explicit(&put_so_far, memory_order_relaxed);
}

/* ---- pointers ---- */

/* Two words at a time, which do not wait for each other: a launch has some ns for it. */
static uint64_t hash_words(uint64_t h, const void *bytes, size_t size)
{
	const uint64_t *w = bytes;

	for (size_t i = 0; i < size / 8; i += 2) {
		uint64_t b = i + 1 < size / 8 ? w[i + 1] : 0;
		unsigned __int128 product = (unsigned __int128)(w[i] ^ (i + 1) * GMOD_HASH_FACTOR) *
					    (b ^ (i + 2) * UINT64_C(0xd6e8feb86659fd93));

		h += (uint64_t)product ^ (uint64_t)(product >> 64);
	}
	return gmod_hash(h ^ h >> 32);
}

/* Its hash; 0: there is none. It is told once. */
static uint64_t site_of(const struct gmod_stack *stack, const struct gmod_found *of)
{
	uint32_t depth = stack->depth <= GMOD_STACK_MAX ? stack->depth : 0;
	struct gmod_journal_site site = {
	    depth || stack->python ? hash_words(stack->python + 1, stack->pc, depth * sizeof(stack->pc[0])) | 1 : 0,
	    {0}};
	_Atomic uint64_t *told = &sites_told[site.hash >> 1 & (SITES - 1)];

	if (!site.hash || atomic_load_explicit(told, memory_order_relaxed) == site.hash)
		return site.hash;
	site.stack = *stack;
	if (gmod_record_live(of->record) == of->word && put(GMOD_JOURNAL_SITE, &site, sizeof(site)))
		atomic_store_explicit(told, site.hash, memory_order_relaxed);
	return site.hash;
}

/* The buffer that the word points into, or right behind. false: into none. */
static bool find_buffer(uint64_t word, struct gmod_journal_pointer *p)
{
	struct gmod_found found = gmod_index_find_now(word);
	const struct gmod_details *d;

	if (!found.record)
		found = gmod_index_find_now(word - 1);
	if (!found.record)
		return false;
	d = gmod_record_details(found.record);
	*p = (struct gmod_journal_pointer){.is_pool = d->site != NULL,
					   .memory = d->memory,
					   .offset = word - found.bounds.user,
					   .size = found.bounds.size,
					   .site = site_of(&d->stack, &found)};
	/* acquire fence: what was read of the record belongs to the buffer if the word is the same still */
	atomic_thread_fence(memory_order_acquire);
	return gmod_record_live(found.record) == found.word;
}

static bool find_known(struct function *f, uint64_t word, struct gmod_journal_pointer *p)
{
	struct known *k = &f->known[gmod_hash(word) >> (64 - KNOWN_BITS)];

	if (!gmod_may_be_address(word))
		return false;
	if (k->word != word || k->buffers != f->buffers)
		k->word = find_buffer(word, &k->pointer) ? word : 0;
	k->buffers = f->buffers;
	*p = k->pointer;
	return k->word;
}

static void replace_pointers(struct function *f, struct gmod_journal_launch *l, const struct gmod_signature *s)
{
	struct gmod_journal_pointer *p = (void *)(l->words + s->bytes / 8);

	for (int i = 0; i < s->count; i++)
		for (unsigned at = (s->at[i].offset + 7U) / 8; at * 8 + 8 <= (unsigned)s->at[i].offset + s->at[i].size;
		     at++)
			if (find_known(f, l->words[at], &p[l->pointers])) {
				p[l->pointers++].at = (uint16_t)(at * 8);
				l->words[at] = 0;
			}
}

/* ---- a function ---- */

static struct function *place_of(uint64_t handle)
{
	for (unsigned i = 0; handle && i < PROBES; i++) {
		struct function *f = &functions[((gmod_hash(handle) >> 32) + i) % FUNCTIONS];
		uint64_t there = atomic_load_explicit(&f->handle, memory_order_relaxed);

		if (!there)
			atomic_compare_exchange_strong_explicit(&f->handle, &there, handle, memory_order_relaxed,
								memory_order_relaxed);
		if (!there || there == handle)
			return f;
	}
	return NULL;
}

static size_t launch_size(const struct gmod_journal_launch *l)
{
	return sizeof(*l) + l->signature->bytes + l->pointers * sizeof(struct gmod_journal_pointer);
}

static bool tell_launch(const struct gmod_journal_launch *l)
{
	return l->function && put(GMOD_JOURNAL_LAUNCH, l, launch_size(l));
}

/* What the handle stands for now: another function may have it since. */
static void learn(struct function *f, const struct gmod_signature *s)
{
	uint64_t handle = atomic_load_explicit(&f->handle, memory_order_relaxed), image = 0;
	const struct gmod_kept *kept = gmod_history_at(images, gmod_name_owner(handle), GMOD_LATEST, NULL);
	const char *name = gmod_name_of(handle, GMOD_LATEST);
	struct gmod_journal_launch *l = in(&f->now);

	if (kept)
		memcpy(&image, kept->bytes, sizeof(image));
	if (l->function && l->name == name && l->signature == s && l->image == image)
		return;
	tell_launch(in(&f->kept));
	in(&f->kept)->function = f->last = f->signatures = f->extremes = 0;
	if (l->function)
		memset(&f->now, 0, sizeof(f->now));
	l->function = atomic_fetch_add_explicit(&function_ids, 1, memory_order_relaxed) + 1;
	l->image = image;
	l->name = name;
	l->signature = s;
	for (int i = 0; i < SCALARS; i++) {
		f->least[i] = INT64_MAX;
		f->most[i] = INT64_MIN;
	}
}

/* Of parameters' words of 4 and 8 bytes: is one the least or the greatest so far? */
static bool note_extremes(struct function *f, const struct gmod_signature *s)
{
	const char *bytes = (const char *)in(&f->now)->words;
	bool found = false;
	int n = 0;

	for (int i = 0; i < s->count; i++) {
		unsigned end = (unsigned)s->at[i].offset + s->at[i].size, step = s->at[i].size == 8 ? 8 : 4;

		for (unsigned at = s->at[i].offset; at + step <= end && n < SCALARS; at += step, n++) {
			int64_t value = 0;

			memcpy(&value, bytes + at, step);
			value = step == 4 ? (int32_t)value : value;
			found |= value < f->least[n] || value > f->most[n];
			f->least[n] = value < f->least[n] ? value : f->least[n];
			f->most[n] = value > f->most[n] ? value : f->most[n];
		}
	}
	return found;
}

/* ---- a launch ---- */

/* Its signature: is it news? */
static void look_closely(struct function *f, uint64_t context)
{
	struct gmod_journal_launch *l = in(&f->now);
	const struct gmod_signature *s = l->signature;
	uint64_t hash;
	uint32_t i = 0;

	l->device = device_of(context, &l->capability);
	replace_pointers(f, l, s);
	hash = hash_words(0, &l->device, launch_size(l) - offsetof(struct gmod_journal_launch, device));
	while (i < f->signatures && f->seen[i] != hash)
		i++;
	if (i < f->signatures)
		return;
	if (!note_extremes(f, s) && i == TOLD)
		return;
	if (i < TOLD)
		f->signatures += tell_launch(l);
	else if (f->extremes == TOLD || !tell_launch(l))
		memcpy(&f->kept, l, launch_size(l));
	else
		f->extremes++;
	if (f->signatures > i)
		f->seen[i] = hash;
}

static void look_at(struct function *f, uint64_t context, const struct gmod_journal_shape *shape,
		    const struct gmod_signature *s, void *const *params, const char *bytes)
{
	uint64_t buffers = atomic_load_explicit(&gmod_counters.guarded, memory_order_relaxed) +
			   atomic_load_explicit(&gmod_counters.host, memory_order_relaxed) +
			   atomic_load_explicit(&gmod_counters.ordered, memory_order_relaxed);
	uint64_t changes = atomic_load_explicit(&gmod_signature_changes, memory_order_acquire), hash;
	struct gmod_journal_launch *l = in(&f->now);

	if (__builtin_expect(f->changes != changes || l->signature != s, 0))
		learn(f, s);
	f->changes = changes;
	f->buffers = buffers;
	l->pointers = 0;
	l->shape = *shape;
	for (int i = 0; i < s->count; i++) {
		char *to = (char *)l->words + s->at[i].offset;
		const char *from = params ? params[s->at[i].number] : bytes + s->at[i].offset;

		if (s->at[i].size == 8)
			memcpy(to, from, 8);
		else
			memcpy(to, from, s->at[i].size);
	}
	hash = hash_words(context + buffers, &l->shape, sizeof(l->shape) + s->bytes);
	if (hash != f->last)
		look_closely(f, context);
	f->last = hash;
}

void gmod_journal_launch(const struct gmod_thread *t, uint64_t function, uint64_t context,
			 const struct gmod_journal_shape *shape, const struct gmod_signature *s, void *const *params)
{
	const struct gmod_arguments *a = t ? atomic_load_explicit(&t->arguments, memory_order_relaxed) : NULL;
	const struct gmod_argument_record *r = NULL;
	struct function *f = place_of(function);
	uint64_t n, position = 0;

	/* acquire: what the last one has written */
	if (!f || atomic_flag_test_and_set_explicit(&f->busy, memory_order_acquire)) {
		gmod_count(&uncounted, 1);
		return;
	}
	if (a) {
		r = &a->record[(atomic_load_explicit(&t->launches, memory_order_relaxed) - 1) % GMOD_RING];
		s = atomic_load_explicit(&r->signature, memory_order_relaxed);
		position = atomic_load_explicit(&r->position, memory_order_relaxed) % GMOD_ARGUMENT_BYTES;
	}
	n = atomic_load_explicit(&f->launches, memory_order_relaxed);
	atomic_store_explicit(&f->launches, n + 1, memory_order_relaxed);
	if (s && !s->is_cut && (a || params || !s->count) && (n < ALL || n % ONE_IN == 0)) {
		look_at(f, context, shape, s, params, a ? (const char *)a->bytes + position : NULL);
		atomic_store_explicit(&f->looked_at, atomic_load_explicit(&f->looked_at, memory_order_relaxed) + 1,
				      memory_order_relaxed);
	}
	atomic_flag_clear_explicit(&f->busy, memory_order_release);
}

struct gmod_journal_counts gmod_journal_rest(void)
{
	struct gmod_journal_counts c = {.launches = atomic_load_explicit(&uncounted, memory_order_relaxed)};

	for (struct function *f = functions; f < functions + FUNCTIONS; f++) {
		c.launches += atomic_load_explicit(&f->launches, memory_order_relaxed);
		c.looked_at += atomic_load_explicit(&f->looked_at, memory_order_relaxed);
		if (!atomic_flag_test_and_set_explicit(&f->busy, memory_order_acquire))
			tell_launch(in(&f->kept));
	}
	c.dropped = atomic_load_explicit(&dropped, memory_order_relaxed);
	return c;
}

/* ---- images ---- */

/* Copies of it are the reader's. */
void gmod_journal_loaded(uint64_t module, const void *image, const char *file)
{
	struct gmod_image_extent e = {0, 0, NULL};
	struct gmod_journal_image i = {.id = 0};
	bool whole = false;
	struct stat st;

	if (image)
		e = gmod_image_measure((uintptr_t)image, gmod_peek);
	else if (!stat(file, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size <= GMOD_IMAGE_MAX)
		e.size = (uint64_t)st.st_size;
	i.size = e.size;
	i.bytes = e.size ? gmod_map(e.size + 1) : NULL;
	if (i.bytes)
		whole = (image ? gmod_peek(e.start, i.bytes, e.size) : gmod_read_file(file, i.bytes, e.size)) ==
			(ssize_t)e.size;
	i.kind = image ? e.kind : whole ? gmod_image_measure((uintptr_t)i.bytes, gmod_peek).kind : NULL;
	i.id = atomic_fetch_add_explicit(&image_ids, 1, memory_order_relaxed) + 1;
	whole = whole && put(GMOD_JOURNAL_IMAGE, &i, sizeof(i));
	/* Where it is not known, the handle must not have the image of an earlier module. */
	gmod_history_add(images, module, whole ? gmod_keep(&i.id, sizeof(i.id)) : NULL, module);
	if (i.bytes && !whole)
		munmap(i.bytes, e.size + 1);
}

void gmod_journal_loaded_as(uint64_t module, uint64_t library)
{
	gmod_history_add(images, module, gmod_history_at(images, library, GMOD_LATEST, NULL), library);
}
