/*
 * bilateral-filter, after the CUDA sample bilateralFilter: smooths an RGBA image and keeps its edges. A pixel becomes
 * the mean of those around it, the nearer in place (a Gaussian table in constant memory) and in colour (a Gaussian of
 * the Euclidean distance) the heavier; several passes, from one pitched buffer to another and back.
 */
#include "coarse.h"

#include <algorithm>
#include <string.h>

enum { WIDTH = 1200, HEIGHT = 800, RADIUS = 5, PASSES = 3, BLOCK_X = 32, BLOCK_Y = 8 };
enum { TILE = 20, NOISE = 60 };   /* the image: tiles of one colour each, and noise */
enum { BAND = 8, TOLERANCE = 1 }; /* rows that are checked at a time; levels of 255 */

#define PLACE_DEVIATION 4.0          /* pixels */
#define COLOUR_DEVIATION (0.1 * 255) /* levels */

struct buffer {
	char *pixels;
	size_t pitch;
};

static const size_t row_bytes = WIDTH * sizeof(uchar4);
static const int bands[] = {0, HEIGHT / 2, HEIGHT - BAND}; /* with all edges, and rows far from them */
static std::vector<uchar4> image, expected, found;
static float place_weight[2 * RADIUS + 1];
static __constant__ float device_place_weight[2 * RADIUS + 1];

static __device__ uchar4 pixel_near(struct buffer b, int x, int y)
{
	x = min(max(x, 0), WIDTH - 1);
	y = min(max(y, 0), HEIGHT - 1);
	return ((const uchar4 *)(b.pixels + y * b.pitch))[x];
}

static __device__ float colour_weight(uchar4 a, uchar4 b)
{
	int red = a.x - b.x, green = a.y - b.y, blue = a.z - b.z;

	return expf((red * red + green * green + blue * blue) *
		    (float)(-1 / (2 * COLOUR_DEVIATION * COLOUR_DEVIATION)));
}

static __global__ void filter(struct buffer in, struct buffer out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	float red = 0, green = 0, blue = 0, alpha = 0, weights = 0;
	uchar4 centre = pixel_near(in, x, y);

	if (x >= WIDTH || y >= HEIGHT)
		return;
	for (int dy = -RADIUS; dy <= RADIUS; dy++)
		for (int dx = -RADIUS; dx <= RADIUS; dx++) {
			uchar4 p = pixel_near(in, x + dx, y + dy);
			float weight = device_place_weight[dy + RADIUS] * device_place_weight[dx + RADIUS] *
				       colour_weight(p, centre);

			red += weight * p.x;
			green += weight * p.y;
			blue += weight * p.z;
			alpha += weight * p.w;
			weights += weight;
		}
	((uchar4 *)(out.pixels + y * out.pitch))[x] =
	    make_uchar4((unsigned char)(red / weights + 0.5f), (unsigned char)(green / weights + 0.5f),
			(unsigned char)(blue / weights + 0.5f), (unsigned char)(alpha / weights + 0.5f));
}

/* One pixel of a pass, on the CPU and in double precision. */
static uchar4 reference_pixel(const uchar4 *in, int x, int y)
{
	const uchar4 centre = in[y * WIDTH + x];
	double sum[4] = {0, 0, 0, 0}, weights = 0;

	for (int dy = -RADIUS; dy <= RADIUS; dy++)
		for (int dx = -RADIUS; dx <= RADIUS; dx++) {
			int row = std::min(std::max(y + dy, 0), HEIGHT - 1);
			uchar4 p = in[row * WIDTH + std::min(std::max(x + dx, 0), WIDTH - 1)];
			double red = p.x - centre.x, green = p.y - centre.y, blue = p.z - centre.z;
			double place = (dx * dx + dy * dy) / (PLACE_DEVIATION * PLACE_DEVIATION);
			double colour =
			    (red * red + green * green + blue * blue) / (COLOUR_DEVIATION * COLOUR_DEVIATION);
			double weight = exp(-(place + colour) / 2);

			sum[0] += weight * p.x;
			sum[1] += weight * p.y;
			sum[2] += weight * p.z;
			sum[3] += weight * p.w;
			weights += weight;
		}
	for (double &s : sum)
		s = floor(s / weights + 0.5);
	return make_uchar4((unsigned char)sum[0], (unsigned char)sum[1], (unsigned char)sum[2], (unsigned char)sum[3]);
}

/* The rows of a band after all passes. What a pass reads outside of the band shrinks by the radius from pass to pass.
 */
static void reference_band(int first)
{
	std::vector<uchar4> in = image, out = image;

	for (int pass = 0; pass < PASSES; pass++) {
		int margin = (PASSES - 1 - pass) * RADIUS;

		for (int y = std::max(first - margin, 0); y < std::min(first + BAND + margin, (int)HEIGHT); y++)
			for (int x = 0; x < WIDTH; x++)
				out[y * WIDTH + x] = reference_pixel(in.data(), x, y);
		in.swap(out);
	}
	memcpy(&expected[first * WIDTH], &in[first * WIDTH], BAND * row_bytes);
}

static unsigned char noisy(unsigned level)
{
	return (unsigned char)(level % (256 - NOISE) + random_u64() % NOISE);
}

static void prepare(void)
{
	uint64_t tiles[HEIGHT / TILE + 1][WIDTH / TILE + 1];

	image.resize(WIDTH * HEIGHT);
	expected.resize(WIDTH * HEIGHT);
	found.assign(WIDTH * HEIGHT, make_uchar4(0xff, 0xff, 0xff, 0xff));
	random_seed(2);
	for (auto &row : tiles)
		for (uint64_t &tile : row)
			tile = random_u64();
	for (int i = 0; i < WIDTH * HEIGHT; i++) {
		uint64_t tile = tiles[i / WIDTH / TILE][i % WIDTH / TILE];

		image[i].x = noisy(tile & 0xff);
		image[i].y = noisy(tile >> 8 & 0xff);
		image[i].z = noisy(tile >> 16 & 0xff);
		image[i].w = noisy(tile >> 24 & 0xff);
	}
	for (int i = -RADIUS; i <= RADIUS; i++)
		place_weight[i + RADIUS] = (float)exp(-i * i / (2 * PLACE_DEVIATION * PLACE_DEVIATION));
	for (int first : bands)
		reference_band(first);
}

static struct buffer buffer_alloc(void)
{
	struct buffer b;

	b.pixels = (char *)device_alloc_pitched(row_bytes, HEIGHT, &b.pitch);
	return b;
}

static void work(unsigned rounds)
{
	dim3 block(BLOCK_X, BLOCK_Y), grid(blocks_for(WIDTH, BLOCK_X), blocks_for(HEIGHT, BLOCK_Y));
	struct buffer input = buffer_alloc(), from = buffer_alloc(), to = buffer_alloc();

	copy_to_symbol(device_place_weight, place_weight, cudaMemcpyHostToDevice);
	copy_rows(input.pixels, input.pitch, image.data(), row_bytes, row_bytes, HEIGHT, cudaMemcpyHostToDevice);
	run_rounds(rounds, [&] {
		CUDA(cudaMemcpy2DAsync(from.pixels, from.pitch, input.pixels, input.pitch, row_bytes, HEIGHT,
				       cudaMemcpyDeviceToDevice, main_stream));
		for (int pass = 0; pass < PASSES; pass++) {
			filter<<<grid, block, 0, main_stream>>>(from, to);
			std::swap(from, to);
		}
	});
	CUDA(cudaGetLastError());
	copy_rows(found.data(), row_bytes, from.pixels, from.pitch, row_bytes, HEIGHT, cudaMemcpyDeviceToHost);
}

/*
 * Where a mean is half way between two levels, single precision may round it to the other one. That is rare, so rare
 * that no value has to bear two such.
 */
static uint64_t check(void)
{
	uint64_t wrong = 0;

	for (int first : bands) {
		const unsigned char *f = (const unsigned char *)&found[first * WIDTH];
		const unsigned char *e = (const unsigned char *)&expected[first * WIDTH];

		for (size_t i = 0; i < BAND * row_bytes; i++)
			wrong += abs(f[i] - e[i]) > TOLERANCE;
	}
	return wrong;
}

const struct program bilateral_filter = {"bilateral-filter", 2800, 4, prepare, work, check};
