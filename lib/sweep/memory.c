#include "lib/sweep/sweep.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
/* With a page between two buffers: the end of one is the start of no other. */
#define PAGES(size) (((size) + PAGE - 1) / PAGE * PAGE + PAGE)
/* Contents of the device matter to nobody, for kernels do nothing: of what is larger only the start is filled. */
#define MOST_FILLED ((size_t)1 << 30)

/* A variable of the device: known by an address of the host's, with a copy here. */
struct variable {
	const void *host;
	char *copy;
	size_t size;
	struct variable *next;
};

static struct buffer *buffers;
static struct variable *variables;
static size_t taken; /* bytes of the device */

struct buffer *sweep_buffer_at(const char *at)
{
	struct buffer *b = buffers;

	while (b && !(at >= b->at && at <= b->at + b->size))
		b = b->next;
	return b;
}

size_t sweep_bytes_left(void)
{
	return DEVICE_BYTES - taken;
}

static int allocate(void **at, size_t size, const char *memory)
{
	struct buffer *b;
	void *pages;

	if (!at)
		return sweep_say(INVALID_VALUE);
	*at = NULL;
	if (!size)
		return SUCCESS;
	if (size > DEVICE_BYTES - taken)
		return sweep_say(OUT_OF_MEMORY);
	pages = mmap(NULL, PAGES(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	b = malloc(sizeof(*b));
	if (pages == MAP_FAILED || !b) {
		free(b);
		return sweep_say(OUT_OF_MEMORY);
	}
	pthread_mutex_lock(&sweep_lock);
	*b = (struct buffer){pages, size, memory, sweep_tell_site(), buffers};
	buffers = b;
	taken += size;
	pthread_mutex_unlock(&sweep_lock);
	*at = pages;
	return SUCCESS;
}

static int release(void *at)
{
	struct buffer *b = NULL;

	if (!at)
		return SUCCESS;
	pthread_mutex_lock(&sweep_lock);
	for (struct buffer **link = &buffers; *link; link = &(*link)->next)
		if ((*link)->at == at) {
			b = *link;
			*link = b->next;
			taken -= b->size;
			break;
		}
	pthread_mutex_unlock(&sweep_lock);
	if (!b)
		return sweep_say(INVALID_VALUE);
	munmap(b->at, PAGES(b->size));
	free(b);
	return SUCCESS;
}

EXPORT int cudaMalloc(void **at, size_t size)
{
	return allocate(at, size, "device");
}
EXPORT int cudaMallocManaged(void **at, size_t size, unsigned flags)
{
	return allocate(at, size, "managed");
}
EXPORT int cudaMallocAsync(void **at, size_t size, void *stream)
{
	return allocate(at, size, "device");
}
EXPORT int cudaMallocFromPoolAsync(void **at, size_t size, void *pool, void *stream)
{
	return allocate(at, size, "device");
}
EXPORT int cudaMallocHost(void **at, size_t size)
{
	return allocate(at, size, "pinned");
}
EXPORT int cudaHostAlloc(void **at, size_t size, unsigned flags)
{
	return allocate(at, size, "pinned");
}
EXPORT int cudaMallocPitch(void **at, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 511) / 512 * 512;
	return allocate(at, *pitch * height, "device");
}
EXPORT int cudaFree(void *at)
{
	return release(at);
}
EXPORT int cudaFreeHost(void *at)
{
	return release(at);
}
EXPORT int cudaFreeAsync(void *at, void *stream)
{
	return release(at);
}
EXPORT int cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	*device = host;
	return SUCCESS;
}
EXPORT int cudaMemGetInfo(size_t *left, size_t *all)
{
	*left = sweep_bytes_left();
	*all = DEVICE_BYTES;
	return SUCCESS;
}

static int copy(void *to, const void *from, size_t size)
{
	if (size && (!to || !from))
		return sweep_say(INVALID_VALUE);
	memmove(to, from, size);
	return SUCCESS;
}

EXPORT int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
	return copy(to, from, size);
}
EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
	return copy(to, from, size);
}
EXPORT int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
			int kind)
{
	for (size_t row = 0; row < height; row++)
		copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
	return SUCCESS;
}
EXPORT int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
			     size_t height, int kind, void *stream)
{
	return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
EXPORT int cudaMemset(void *at, int value, size_t size)
{
	if (size && !at)
		return sweep_say(INVALID_VALUE);
	if (size)
		memset(at, value, size < MOST_FILLED ? size : MOST_FILLED);
	return SUCCESS;
}
EXPORT int cudaMemsetAsync(void *at, int value, size_t size, void *stream)
{
	return cudaMemset(at, value, size);
}
EXPORT int cudaMemset2D(void *at, size_t pitch, int value, size_t width, size_t height)
{
	for (size_t row = 0; row < height; row++)
		cudaMemset((char *)at + row * pitch, value, width);
	return SUCCESS;
}

/* ---- variables ---- */

static struct variable *find_variable(const void *host)
{
	struct variable *v = variables;

	while (v && v->host != host)
		v = v->next;
	return v;
}

static char *add_variable(const void *host, size_t size)
{
	struct variable *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	*v = (struct variable){host, calloc(1, size ? size : 1), size, NULL};
	pthread_mutex_lock(&sweep_lock);
	v->next = variables;
	variables = v;
	pthread_mutex_unlock(&sweep_lock);
	return v->copy;
}

/* The copy, where that many bytes are in it. */
static char *copy_of(const void *host, size_t size, size_t offset)
{
	struct variable *v = find_variable(host);

	return v && v->copy && offset <= v->size && size <= v->size - offset ? v->copy + offset : NULL;
}

EXPORT int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset, int kind)
{
	char *to = copy_of(symbol, size, offset);

	return to ? copy(to, from, size) : sweep_say(UNKNOWN_SYMBOL);
}
EXPORT int cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset, int kind,
				   void *stream)
{
	return cudaMemcpyToSymbol(symbol, from, size, offset, kind);
}
EXPORT int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset, int kind)
{
	char *from = copy_of(symbol, size, offset);

	return from ? copy(to, from, size) : sweep_say(UNKNOWN_SYMBOL);
}
EXPORT int cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset, int kind, void *stream)
{
	return cudaMemcpyFromSymbol(to, symbol, size, offset, kind);
}
EXPORT int cudaGetSymbolAddress(void **at, const void *symbol)
{
	*at = copy_of(symbol, 0, 0);
	return *at ? SUCCESS : sweep_say(UNKNOWN_SYMBOL);
}
EXPORT int cudaGetSymbolSize(size_t *size, const void *symbol)
{
	struct variable *v = find_variable(symbol);

	*size = v ? v->size : 0;
	return v ? SUCCESS : sweep_say(UNKNOWN_SYMBOL);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
			      int constant, int global)
{
	add_variable(host, size);
}
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
				     size_t size, int constant, int global)
{
	*host = add_variable(host, size);
}
