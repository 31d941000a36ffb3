/*
 * grid-point: each thread allocates a record for its point of a grid, links it with its four neighbours (the grid is
 * closed at its edges), computes its value twice from theirs, and frees it.
 */
#include "inkernel.cuh"

enum { WIDTH = 128 };

struct point {
	uint64_t value[2];
	struct point *neighbour[4];
};

template <class Memory> static __global__ void grid_make(struct point **grid)
{
	unsigned i = thread_number();
	struct point *p = (struct point *)Memory::get(sizeof(*p));

	if (p)
		p->value[0] = mix(i);
	grid[i] = p;
}

static __global__ void grid_link(struct point **grid)
{
	unsigned i = thread_number(), n = thread_count(), row = i / WIDTH * WIDTH;
	struct point *p = grid[i];

	if (!p)
		return;
	p->neighbour[0] = grid[row + (i + 1) % WIDTH];
	p->neighbour[1] = grid[row + (i + WIDTH - 1) % WIDTH];
	p->neighbour[2] = grid[(i + WIDTH) % n];
	p->neighbour[3] = grid[(i + n - WIDTH) % n];
}

static __global__ void grid_compute(struct point **grid, unsigned from)
{
	struct point *p = grid[thread_number()];
	uint64_t sum = 0;

	for (int k = 0; p && k < 4; k++)
		sum = mix(sum + (p->neighbour[k] ? p->neighbour[k]->value[from] : 0));
	if (p)
		p->value[1 - from] = p->value[from] + sum;
}

template <class Memory> static __global__ void grid_free(struct point **grid, uint64_t *out)
{
	unsigned i = thread_number();

	out[i] = grid[i] ? grid[i]->value[0] : NO_MEMORY;
	if (grid[i])
		Memory::put(grid[i]);
}

template <class Memory> static void run(const struct work *w)
{
	struct point **grid = (struct point **)w->scratch;
	unsigned blocks = w->threads / w->block;

	grid_make<Memory><<<blocks, w->block, 0, w->stream>>>(grid);
	grid_link<<<blocks, w->block, 0, w->stream>>>(grid);
	grid_compute<<<blocks, w->block, 0, w->stream>>>(grid, 0);
	grid_compute<<<blocks, w->block, 0, w->stream>>>(grid, 1);
	grid_free<Memory><<<blocks, w->block, 0, w->stream>>>(grid, w->out);
}

const struct program grid_point = {"grid-point", sizeof(struct point *), {run<memory_cuda>, run<memory_gmod>}, {}};
