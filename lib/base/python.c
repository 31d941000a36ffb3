#include "lib/base/python.h"

#include <dlfcn.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/facts.h"
#include "lib/base/hash.h"
#include "lib/base/keep.h"
#include "lib/base/map.h"
#include "lib/base/peek.h"

/* ---- where things lie ---- */

/* clang-format off */
/* In _PyRuntime; in an interpreter, of an older one; in a thread state; in a frame; in a code object, of its lines, ... */
enum { FINALIZING, NEXT, INTERPRETER, THREAD, CURRENT, PREVIOUS, CODE, INSTRUCTION, OWNER,
       FILE_NAME, FUNCTION, LINES, FIRST_LINE, START /* ... and of its instructions */, FIELDS };

/*
 * Offsets in bytes. 3.13 and 3.14 say them themselves, at the start of _PyRuntime: there they are in these words. Those
 * in PyObject, PyVarObject and bytes, and of a code object's version, are the same everywhere.
 */
static const uint8_t known[][FIELDS] = {
	{24, 0, 16, 152, 56, 48, 32, 56, 69, 112, 128, 136, 72, 184}, /* 3.11 */
	{24, 0, 16, 136, 56, 8, 0, 56, 70, 112, 128, 136, 68, 192},   /* 3.12 */
	{4, 8, 22, 24, 23, 29, 30, 31, 33, 35, 37, 38, 39, 43},       /* 3.13 */
	{4, 8, 25, 27, 26, 32, 33, 34, 36, 40, 42, 43, 44, 48},       /* 3.14 */
};
enum { TYPE = 8, COUNT = 16, BYTES = 32, VERSION = 92 };
/* clang-format on */

/* As much as is looked at of a thread state, a frame, a code object and a str; of what is looked at at once. */
enum { STATE_SIZE = 160, FRAME_SIZE = 80, CODE_SIZE = 96, STR_SIZE = 40, ROOM = 256 };
enum { OWNED_BY_C = 3, TO_BE_TRIED = 1, TRUSTED = 2 }; /* the first: and above, a frame that stands for C */

static struct {
	uint64_t at[FIELDS];
	unsigned minor;
	uintptr_t runtime, code_type;
	void *(*this_thread)(void);
} python;

pthread_t gmod_python_main_thread;
unsigned gmod_launch_frames = 4;

void gmod_python_init(void *(*find)(void *handle, const char *symbol))
{
	const uint64_t *runtime = find(RTLD_DEFAULT, "_PyRuntime");
	const unsigned long *version = find(RTLD_DEFAULT, "Py_Version");

	python.this_thread = (void *(*)(void))find(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	python.minor = version && *version >> 24 == 3 ? *version >> 16 & 0xff : 0;
	/* The third word: there is no lock of the interpreter, and threads are another matter. */
	if (!runtime || !python.this_thread || python.minor < 11 || python.minor > 14 ||
	    (python.minor > 12 && (memcmp(runtime, "xdebugpy", 8) != 0 || runtime[1] != *version || runtime[2])))
		return;
	for (int i = 0; i < FIELDS; i++) {
		python.at[i] = known[python.minor - 11][i];
		python.at[i] = python.minor > 12 ? runtime[python.at[i]] : python.at[i];
		if (i > NEXT && python.at[i] > ROOM - sizeof(python.at[i]))
			return;
	}
	python.runtime = (uintptr_t)runtime;
	python.code_type = (uintptr_t)find(RTLD_DEFAULT, "PyCode_Type");
	atomic_store_explicit(&gmod_hot.python, TO_BE_TRIED, memory_order_relaxed);
}

/* ---- reading ---- */

/* false: not all of it is there. */
static bool copy(uintptr_t from, void *to, size_t n)
{
	ssize_t done = gmod_peek(from, to, n);

	if (done < 0 && done != -EFAULT && atomic_exchange_explicit(&gmod_hot.python, 0, memory_order_relaxed))
		gmod_degraded("process_vm_readv");
	return done == (ssize_t)n;
}

#define STRAIGHT static inline __attribute__((always_inline))

/* The n bytes there, or a copy of them. NULL: they cannot be. */
STRAIGHT const char *object(bool trusted, uintptr_t at, size_t n, char room[ROOM])
{
	if (__builtin_expect(at < 65536, 0) || (!trusted && (at >> 48 || at % 8 != 0)))
		return NULL;
	return trusted ? (const char *)at : copy(at, room, n) ? room : NULL;
}

/* What it has there, in so many bytes. */
STRAIGHT uint64_t field(const char *object, uint64_t offset, size_t n)
{
	uint64_t value = 0;

	memcpy(&value, object + offset, n);
	return value;
}

/* ---- the walk ---- */

struct walk {
	unsigned depth;
	uint64_t key;
	struct place {
		uintptr_t code;
		uint64_t offset; /* of the instruction */
	} place[GMOD_PYTHON_MAX];
};

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * GMOD_HASH_FACTOR;
	return h ^ h >> 29;
}

/* Of what is very long the beginning and the end. What is short has a head before it. */
static uint64_t mix_bytes(uint64_t h, const char *bytes, uint64_t n)
{
	uint64_t a = h, b = n;

	for (uint64_t i = 0; i + 16 <= n && i < 1024; i += 16) {
		a = (a ^ field(bytes, i, 8)) * GMOD_HASH_FACTOR;
		b = (b ^ field(bytes, i + 8, 8)) * GMOD_HASH_FACTOR;
	}
	return mix(mix(mix(a, b), field(bytes + n - 16, 0, 8)), field(bytes + n - 16, 8, 8));
}

/* Not what a frame that is being torn down may still point to. */
static bool is_code(const char *object)
{
	return field(object, TYPE, 8) == python.code_type && field(object, 0, 4);
}

/* What tells a code object without a version from a later one in its place: its lines, and its file. 0: it is none. */
static __attribute__((cold, noinline)) uint64_t look_into(const char *code)
{
	const char *lines = (const char *)field(code, python.at[LINES], 8);
	const char *file = (const char *)field(code, python.at[FILE_NAME], 8);
	uint64_t h;

	if (!is_code(code))
		return 0;
	h = mix_bytes(field(code, python.at[FIRST_LINE], 4), lines + BYTES, field(lines, COUNT, 8));
	return mix_bytes(h, file + (python.minor == 11 ? 48 : 40), field(file, COUNT, 8));
}

/* The current frame of the calling thread; 0: it has none, or it must not be looked at. */
STRAIGHT uintptr_t first_frame(bool trusted, char room[ROOM])
{
	uintptr_t state = (uintptr_t)python.this_thread(), frame, interpreter;
	const char *o = state ? object(trusted, python.runtime + python.at[FINALIZING], 8, room) : NULL;

	if (!o || (field(o, 0, 8) && field(o, 0, 8) != state) || !(o = object(trusted, state, STATE_SIZE, room)) ||
	    field(o, python.at[THREAD], 8) != (uintptr_t)pthread_self())
		return 0;
	frame = field(o, python.at[CURRENT], 8);
	interpreter = field(o, python.at[INTERPRETER], 8);
	if (!(o = object(trusted, interpreter + python.at[NEXT], 8, room)) || field(o, 0, 8))
		return 0;
	/* Up to 3.12 there is one more pointer on the way, to what lies on the C stack. */
	o = python.minor < 13 ? object(trusted, frame, 16, room) : NULL;
	return python.minor > 12 ? frame : o ? field(o, python.minor == 11 ? 8 : 0, 8) : 0;
}

/*
 * Fill in *w; false: there is no frame, or something is not as expected. A program that launches without pause pays for
 * each line of the cache that is looked at: whether a code object is one is asked where its stack is first seen.
 */
STRAIGHT bool walk(bool trusted, struct walk *w, unsigned depth)
{
	char room[ROOM];
	uintptr_t frame = first_frame(trusted, room), code, instruction;
	uint64_t version;
	const char *o;

	w->depth = 0;
	w->key = GMOD_HASH_START;
	/* With those that stand for C. */
	for (unsigned i = 0; frame && i < 4 * GMOD_PYTHON_MAX && w->depth < depth; i++) {
		if (!(o = object(trusted, frame, FRAME_SIZE, room)))
			return false;
		/* From 3.14 on the low bits say whose the reference is. */
		code = field(o, python.at[CODE], 8) & ~(uint64_t)7;
		instruction = field(o, python.at[INSTRUCTION], 8);
		frame = field(o, python.at[PREVIOUS], 8);
		if (o[python.at[OWNER]] >= OWNED_BY_C || !(o = object(trusted, code, CODE_SIZE, room)))
			continue;
		version = python.minor > 11 ? field(o, VERSION, 4) : 0;
		if (__builtin_expect(!version && trusted, 0) && !(version = look_into(o)))
			continue;
		w->place[w->depth++] = (struct place){code, instruction - code - python.at[START]};
		w->key = mix(w->key, instruction ^ version << 32);
	}
	return w->depth > 0;
}

/* ---- names and lines ---- */

/* Six bits a byte, the lowest first, and bit 6 of a byte says that more come; of the number bit 0 is its sign. */
static int64_t signed_number(const uint8_t *p)
{
	uint64_t n = 0;
	unsigned shift = 0;

	do
		n |= (uint64_t)(*p & 63) << shift;
	while ((*p++ & 64) && (shift += 6) < 36);
	return n & 1 ? -(int64_t)(n >> 1) : (int64_t)(n >> 1);
}

/*
 * An entry's first byte is the only one with bit 7. It has the entry's kind, and how many instructions of two bytes it
 * is about, less one. Kinds 13 and 14 go on with how much further the line is; 10 to 12 say so themselves.
 */
uint64_t gmod_python_line(const uint8_t *entry, size_t n, uint64_t first_line, uint64_t offset)
{
	const uint8_t *end = entry + n;
	int64_t line = (int64_t)first_line;
	uint64_t covered = 0;

	while (entry < end) {
		int kind = *entry >> 3 & 15;

		covered += 2 * ((uint64_t)(*entry++ & 7) + 1);
		if (kind == 13 || kind == 14)
			line += signed_number(entry);
		else if (kind >= 10 && kind <= 12)
			line += kind - 10;
		if (offset < covered)
			break;
		while (entry < end && !(*entry & 128))
			entry++;
	}
	return line > 0 ? (uint64_t)line : 0;
}

/* Too much for the stack of some threads. */
struct scratch {
	struct gmod_python stack;
	uint8_t lines[65536];
	char raw[1024], out[2048], code[ROOM], room[ROOM];
};

/* A byte that is no character is kept in a file's name as one of U+DC80 to U+DCFF. */
static size_t put_utf8(uint32_t c, char *out)
{
	size_t n = c < 0x80 || (c >= 0xdc80 && c <= 0xdcff) ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	*out = (char)(n == 1 ? c : c | (0xf00 >> n & 0xff));
	return n;
}

/* A str, whose end is cut off if it is too long. NULL: it cannot be read. */
static const char *keep_text(uintptr_t str, struct scratch *s)
{
	const char *o = object(false, str, STR_SIZE, s->room);
	uint64_t state = o ? field(o, BYTES, 4) : 0, width = state >> 2 & 7, length = o ? field(o, COUNT, 8) : 0;
	const struct gmod_kept *kept;
	uint64_t size = 0;
	uint32_t c = 0;

	if (!(state & 32) || !width || width > sizeof(c)) /* 32: all of it in one piece */
		return NULL;
	length = length < sizeof(s->raw) / width ? length : sizeof(s->raw) / width;
	/* 64: ASCII, behind a shorter head. */
	str += state & 64 ? 40 + (python.minor == 11) * 8 : 56 + (python.minor == 11) * 16;
	if (!copy(str, s->raw, length * width))
		return NULL;
	for (uint64_t i = 0; i < length; i++) {
		memcpy(&c, s->raw + i * width, width);
		size += put_utf8(c, s->out + size);
	}
	kept = gmod_keep(s->out, size);
	return kept ? kept->bytes : NULL;
}

/* false: it cannot be read. A frame that is none of Python's code is left out. */
static bool read_frame(const struct place *p, struct scratch *s)
{
	const char *code = object(false, p->code, python.at[START], s->code), *o;
	struct gmod_python_frame *f = &s->stack.frame[s->stack.depth];
	uintptr_t lines;
	uint64_t n;

	if (!code || !is_code(code) || p->offset >= 2 * field(code, COUNT, 8))
		return code != NULL;
	lines = field(code, python.at[LINES], 8);
	n = (o = object(false, lines, BYTES, s->room)) ? field(o, COUNT, 8) : sizeof(s->lines);
	if (n >= sizeof(s->lines) || !copy(lines + BYTES, s->lines, n + 1))
		return false;
	f->line = gmod_python_line(s->lines, n, field(code, python.at[FIRST_LINE], 4), p->offset);
	f->file = keep_text(field(code, python.at[FILE_NAME], 8), s);
	f->function = keep_text(field(code, python.at[FUNCTION], 8), s);
	return f->file && f->function && ++s->stack.depth;
}

/* As far as they can be read. */
static __attribute__((cold, noinline)) const struct gmod_python *read_frames(const struct walk *w)
{
	struct scratch *s = gmod_map(sizeof(*s));
	const struct gmod_kept *kept = NULL;

	if (!s)
		return NULL;
	for (unsigned i = 0; i < w->depth && read_frame(&w->place[i], s); i++)
		;
	if (s->stack.depth)
		kept = gmod_keep(&s->stack, offsetof(struct gmod_python, frame[s->stack.depth]));
	munmap(s, sizeof(*s));
	return kept ? (const struct gmod_python *)(const void *)kept->bytes : NULL;
}

/* ---- stacks that have been seen ---- */

enum { SLOTS = 32768, PROBES = 8 };

/* key 0: free; else it stays. Who takes one reads the stack; until that is done, and if it cannot be, there is none. */
static struct slot {
	_Atomic uint64_t key;
	_Atomic(const struct gmod_python *) stack;
} slots[SLOTS];

/*
 * By system calls. A thread has so many looks for nothing, and then rests after each: else one that launches without
 * pause would do little else.
 */
static __attribute__((cold, noinline)) bool walk_carefully(struct walk *w, unsigned depth)
{
	enum { FREE = 1000, REST = 32 /* times as long as the look */ };
	static __thread uint64_t looks __attribute__((tls_model("initial-exec")));
	static __thread uint64_t rests_until __attribute__((tls_model("initial-exec")));
	uint64_t began = gmod_ticks();
	const struct gmod_python *stack;
	bool found, is_first = atomic_load_explicit(&gmod_hot.python, memory_order_relaxed) == TO_BE_TRIED;

	if (looks++ >= FREE && began < rests_until)
		return false;
	found = walk(false, w, depth);
	stack = found && (is_first || python.minor == 11) ? read_frames(w) : NULL;
	if (is_first && stack && stack->depth == w->depth)
		atomic_store_explicit(&gmod_hot.python, TRUSTED, memory_order_relaxed);
	/* What is in 3.11's code objects has not been looked into. */
	if (python.minor == 11)
		w->key = mix(GMOD_HASH_START, (uintptr_t)stack);
	rests_until = began + REST * (gmod_ticks() - began);
	return found && (python.minor > 11 || stack);
}

uint32_t gmod_python_here(unsigned depth)
{
	int state = atomic_load_explicit(&gmod_hot.python, memory_order_relaxed);
	bool trusted = state == TRUSTED && pthread_equal(pthread_self(), gmod_python_main_thread);
	struct walk w;

	if (!state || !(trusted ? walk(true, &w, depth) : walk_carefully(&w, depth)))
		return 0;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct slot *s = &slots[((w.key >> 49) + i) % SLOTS];
		uint64_t found = atomic_load_explicit(&s->key, memory_order_relaxed), mine = w.key | 1;

		if (!found && atomic_compare_exchange_strong_explicit(&s->key, &found, mine, memory_order_relaxed,
								      memory_order_relaxed))
			/* release: it is complete for whoever finds it */
			atomic_store_explicit(&s->stack, read_frames(&w), memory_order_release);
		if (!found || found == mine)
			return (uint32_t)(s - slots) + 1;
	}
	return 0;
}

const struct gmod_python *gmod_python_stack(uint32_t number)
{
	return number - 1 < SLOTS ? atomic_load_explicit(&slots[number - 1].stack, memory_order_acquire) : NULL;
}
