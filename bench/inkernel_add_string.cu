/*
 * add-string: each thread builds a string out of eight words of 1 to 12 letters. Each word makes a new string of the
 * old one and the word, and frees the old one, so sizes vary from thread to thread.
 */
#include "inkernel.cuh"

enum { WORDS = 8, LETTERS = 12 };

struct string {
	char *text; /* NULL: there was no memory */
	unsigned length;
};

template <class Memory> static __device__ struct string add(struct string s, uint64_t word)
{
	unsigned letters = 1 + (unsigned)(word >> 60) % LETTERS;
	struct string sum = {(char *)Memory::get(s.length + letters + 1), s.length + letters};

	for (unsigned i = 0; sum.text && i < s.length; i++)
		sum.text[i] = s.text[i];
	for (unsigned i = 0; sum.text && i < letters; i++)
		sum.text[s.length + i] = (char)('a' + (word >> 5 * i & 31) % 26);
	if (sum.text)
		sum.text[sum.length] = 0;
	Memory::put(s.text);
	return sum;
}

static __device__ uint64_t hash(const char *text)
{
	uint64_t h = 0;

	while (*text)
		h = mix(h ^ (unsigned char)*text++);
	return h;
}

template <class Memory> static __global__ void string_build(uint64_t *out)
{
	unsigned i = thread_number();
	struct string s = {(char *)Memory::get(1), 0};

	if (s.text)
		*s.text = 0;
	for (unsigned k = 0; s.text && k < WORDS; k++)
		s = add<Memory>(s, mix((uint64_t)i * WORDS + k));
	out[i] = s.text ? hash(through_memory(s.text)) : NO_MEMORY;
	if (s.text)
		Memory::put(s.text);
}

template <class Memory> static void run(const struct work *w)
{
	string_build<Memory><<<w->threads / w->block, w->block, 0, w->stream>>>(w->out);
}

const struct program add_string = {"add-string", 0, {run<memory_cuda>, run<memory_gmod>}, {}};
