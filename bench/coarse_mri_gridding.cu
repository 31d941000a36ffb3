/*
 * mri-gridding, after the one of Parboil: spreads samples of k-space, which lie anywhere, over the points of a regular
 * grid, weighted by their distance with a Kaiser-Bessel window (a table). The device sorts the samples by the cell
 * of the grid that they are in (count, scan, place); then each point gathers from the cells around it.
 */
#include "coarse.h"

#include <algorithm>
#include <string.h>

enum { SIDE = 64, POINTS = SIDE * SIDE * SIDE, SAMPLES = 200000, REACH = 2 }; /* of the window, in cells */
enum { BLOCK = 128, SCAN_BLOCK = 1024, SCAN_BLOCKS = POINTS / SCAN_BLOCK };
enum { TABLE = 1024, TABLE_STEPS = TABLE / (REACH * REACH) }; /* of the window, by the square of the distance */

#define WINDOW_SHAPE 8.0

struct sample {
	float x, y, z; /* 0 <= each < SIDE */
	float real, imaginary, density;
};

/* Memory of the device. */
struct memory {
	struct sample *samples, *sorted;
	float *table;
	unsigned *count, *begin; /* of the samples of a cell; POINTS cells, and where the last one ends */
	unsigned *block_count, *block_begin;
	float2 *grid;
};

static std::vector<struct sample> samples;
static std::vector<float> table, expected, found; /* the latter two: real, imaginary, real, ... */

static __device__ unsigned cell_of(const struct sample &s)
{
	return ((unsigned)s.z * SIDE + (unsigned)s.y) * SIDE + (unsigned)s.x;
}

static __global__ void count_samples(const struct sample *samples, unsigned *count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < SAMPLES)
		atomicAdd(&count[cell_of(samples[i])], 1);
}

/* sums[i]: of all values of the block before i; totals: of all values, for each block. */
static __global__ void scan_block(const unsigned *values, unsigned *sums, unsigned *totals)
{
	__shared__ unsigned sum[SCAN_BLOCK];
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, value = values[i];

	sum[t] = value;
	for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
		unsigned before;

		__syncthreads();
		before = t >= distance ? sum[t - distance] : 0;
		__syncthreads();
		sum[t] += before;
	}
	sums[i] = sum[t] - value;
	if (t == blockDim.x - 1)
		totals[blockIdx.x] = sum[t];
}

static __global__ void add_block_begin(unsigned *begin, const unsigned *block_begin)
{
	begin[blockIdx.x * blockDim.x + threadIdx.x] += block_begin[blockIdx.x];
}

/* Counts down to none what count_samples counted: the next round begins as this one did. */
static __global__ void place_samples(const struct sample *samples, struct sample *sorted, const unsigned *begin,
				     unsigned *count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, cell;

	if (i >= SAMPLES)
		return;
	cell = cell_of(samples[i]);
	sorted[begin[cell] + atomicSub(&count[cell], 1) - 1] = samples[i];
}

/* The square of a distance within reach. */
static __device__ float window(const float *table, float square)
{
	float at = square * TABLE_STEPS;
	unsigned i = (unsigned)at;

	return table[i] + (at - i) * (table[i + 1] - table[i]);
}

static __device__ void add_samples(const struct sample *first, const struct sample *last, const float *table, int x,
				   int y, int z, float2 *sum)
{
	for (const struct sample *s = first; s < last; s++) {
		float dx = s->x - x, dy = s->y - y, dz = s->z - z, square = dx * dx + dy * dy + dz * dz, weight;

		if (square >= REACH * REACH)
			continue;
		weight = window(table, square) * s->density;
		sum->x += weight * s->real;
		sum->y += weight * s->imaginary;
	}
}

/* A thread a point. The samples of cells that are neighbours in x follow one another. */
static __global__ void gather(const struct sample *sorted, const unsigned *begin, const float *table, float2 *grid)
{
	int point = blockIdx.x * blockDim.x + threadIdx.x;
	int x = point % SIDE, y = point / SIDE % SIDE, z = point / (SIDE * SIDE);
	int x0 = max(x - REACH, 0), x1 = min(x + REACH, SIDE);
	float2 sum = {0, 0};

	for (int k = max(z - REACH, 0); k < min(z + REACH, SIDE); k++)
		for (int j = max(y - REACH, 0); j < min(y + REACH, SIDE); j++) {
			int row = (k * SIDE + j) * SIDE;

			add_samples(sorted + begin[row + x0], sorted + begin[row + x1], table, x, y, z, &sum);
		}
	grid[point] = sum;
}

/* Of the first kind and order 0. */
static double bessel(double v)
{
	double term = 1, sum = 1;

	for (int i = 1; term > sum * 1e-17; i++) {
		term *= v / 2 / i * (v / 2 / i);
		sum += term;
	}
	return sum;
}

/* The table ends with 0, so that it matters little on which side of the reach a distance is rounded to. */
static void make_table(void)
{
	table.assign(TABLE + 1, 0);
	for (int i = 0; i < TABLE; i++)
		table[i] = (float)(bessel(WINDOW_SHAPE * sqrt(1 - (double)i / TABLE)) / bessel(WINDOW_SHAPE));
}

/* More of them in the middle, as k-space is sampled. */
static float random_coordinate(void)
{
	return std::min((random_float() + random_float()) * (SIDE / 2), SIDE - 0.001f);
}

/* The CPU goes the other way about it, and adds each sample to the points around it. */
static void spread(const struct sample &s, std::vector<double> *grid)
{
	for (int z = std::max((int)s.z - 1, 0); z <= std::min((int)s.z + REACH, SIDE - 1); z++)
		for (int y = std::max((int)s.y - 1, 0); y <= std::min((int)s.y + REACH, SIDE - 1); y++)
			for (int x = std::max((int)s.x - 1, 0); x <= std::min((int)s.x + REACH, SIDE - 1); x++) {
				double dx = (double)s.x - x, dy = (double)s.y - y, dz = (double)s.z - z;
				double at = (dx * dx + dy * dy + dz * dz) * TABLE_STEPS, weight;
				size_t point = ((size_t)z * SIDE + y) * SIDE + x;
				int i = (int)at;

				if (i >= TABLE)
					continue;
				weight = s.density * (table[i] + (at - i) * ((double)table[i + 1] - table[i]));
				(*grid)[2 * point] += weight * s.real;
				(*grid)[2 * point + 1] += weight * s.imaginary;
			}
}

static void prepare(void)
{
	std::vector<double> grid(2 * POINTS, 0);

	random_seed(4);
	make_table();
	samples.resize(SAMPLES);
	for (struct sample &s : samples) {
		s.x = random_coordinate();
		s.y = random_coordinate();
		s.z = random_coordinate();
		s.real = random_float() - 0.5f;
		s.imaginary = random_float() - 0.5f;
		s.density = random_float();
		spread(s, &grid);
	}
	expected.assign(grid.begin(), grid.end());
	found.assign(2 * POINTS, NAN);
}

static struct memory memory_alloc(void)
{
	struct memory m;

	m.samples = device_array<struct sample>(SAMPLES);
	m.sorted = device_array<struct sample>(SAMPLES);
	m.table = device_array<float>(TABLE + 1);
	m.count = device_array<unsigned>(POINTS);
	m.begin = device_array<unsigned>(POINTS + 1);
	m.block_count = device_array<unsigned>(SCAN_BLOCKS);
	m.block_begin = device_array<unsigned>(SCAN_BLOCKS);
	m.grid = device_array<float2>(POINTS);
	return m;
}

static void run_round(const struct memory &m, cudaStream_t stream)
{
	unsigned blocks = blocks_for(SAMPLES, BLOCK);

	count_samples<<<blocks, BLOCK, 0, stream>>>(m.samples, m.count);
	scan_block<<<SCAN_BLOCKS, SCAN_BLOCK, 0, stream>>>(m.count, m.begin, m.block_count);
	scan_block<<<1, SCAN_BLOCKS, 0, stream>>>(m.block_count, m.block_begin, m.begin + POINTS);
	add_block_begin<<<SCAN_BLOCKS, SCAN_BLOCK, 0, stream>>>(m.begin, m.block_begin);
	place_samples<<<blocks, BLOCK, 0, stream>>>(m.samples, m.sorted, m.begin, m.count);
	gather<<<POINTS / BLOCK, BLOCK, 0, stream>>>(m.sorted, m.begin, m.table, m.grid);
	CUDA(cudaGetLastError());
}

static void work(unsigned rounds)
{
	const size_t in_bytes = SAMPLES * sizeof(struct sample), out_bytes = POINTS * sizeof(float2);
	const size_t table_bytes = (TABLE + 1) * sizeof(float);
	void *in = host_alloc(in_bytes), *in_table = host_alloc(table_bytes), *out = host_alloc(out_bytes);
	struct memory m = memory_alloc();
	cudaStream_t stream;

	memcpy(in, samples.data(), in_bytes);
	memcpy(in_table, table.data(), table_bytes);
	CUDA(cudaStreamCreate(&stream));
	CUDA(cudaMemcpyAsync(m.samples, in, in_bytes, cudaMemcpyHostToDevice, stream));
	CUDA(cudaMemcpyAsync(m.table, in_table, table_bytes, cudaMemcpyHostToDevice, stream));
	CUDA(cudaMemsetAsync(m.count, 0, POINTS * sizeof(unsigned), stream));
	run_rounds(rounds, [&] { run_round(m, stream); });
	CUDA(cudaMemcpyAsync(out, m.grid, out_bytes, cudaMemcpyDeviceToHost, stream));
	CUDA(cudaStreamSynchronize(stream));
	memcpy(found.data(), out, out_bytes);
	CUDA(cudaStreamDestroy(stream));
}

/* Single precision, and sums of some hundred terms in whatever order the atomics leave. */
static uint64_t check(void)
{
	return count_wrong(found.data(), expected.data(), expected.size(), 2e-5f);
}

const struct program mri_gridding = {"mri-gridding", 10500, 1, prepare, work, check};
