/*
 * fft: the discrete Fourier transforms of many signals of 1024 complex points, one signal a block, by the Stockham
 * formulation with radix 4 in shared memory (Govindaraju et al. 2008).
 */
#include <complex>

#include "coarse.h"

typedef std::complex<double> complex;

enum { POINTS = 1024, SIGNALS = 1024, THREADS = POINTS / 4 };
static const size_t TOTAL = (size_t)POINTS * SIGNALS;

/* Complex numbers, as pairs. root is exp(-2 pi i k / POINTS). */
static std::vector<float> input, root, expected, found;

static __device__ float2 operator+(float2 a, float2 b)
{
	return make_float2(a.x + b.x, a.y + b.y);
}

static __device__ float2 operator-(float2 a, float2 b)
{
	return make_float2(a.x - b.x, a.y - b.y);
}

static __device__ float2 operator*(float2 a, float2 b)
{
	return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* The transform of four points. */
static __device__ void transform_four(float2 v[4])
{
	float2 even = v[0] + v[2], even_turned = v[0] - v[2], odd = v[1] + v[3], difference = v[1] - v[3],
	       odd_turned = make_float2(difference.y, -difference.x); /* times -i */

	v[0] = even + odd;
	v[1] = even_turned + odd_turned;
	v[2] = even - odd;
	v[3] = even_turned - odd_turned;
}

/* Each pass makes transforms of 4 * size points of four of size points, and sorts as it goes. */
static __global__ void fft_forward(const float2 *signal, const float2 *root, float2 *out)
{
	__shared__ float2 points[POINTS];
	unsigned t = threadIdx.x, begin = blockIdx.x * POINTS;
	float2 v[4];

	for (int k = 0; k < 4; k++)
		points[t + k * THREADS] = signal[begin + t + k * THREADS];
	for (unsigned size = 1; size < POINTS; size *= 4) {
		unsigned within = t % size, to = (t - within) * 4 + within;

		for (int k = 0; k < 4; k++)
			v[k] = points[t + k * THREADS] * root[within * k * (THREADS / size)];
		transform_four(v);
		__syncthreads();
		for (int k = 0; k < 4; k++)
			points[to + k * size] = v[k];
		__syncthreads();
	}
	for (int k = 0; k < 4; k++)
		out[begin + t + k * THREADS] = points[t + k * THREADS];
}

/* The transform of every step-th number from `in`, on the CPU and by halves. */
static void transform(const float *in, unsigned step, unsigned count, const complex *roots, complex *out)
{
	if (count == 1) {
		*out = complex(in[0], in[1]);
		return;
	}
	transform(in, 2 * step, count / 2, roots, out);
	transform(in + 2 * step, 2 * step, count / 2, roots, out + count / 2);
	for (unsigned k = 0; k < count / 2; k++) {
		complex even = out[k], odd = out[k + count / 2] * roots[k * step];

		out[k] = even + odd;
		out[k + count / 2] = even - odd;
	}
}

static void prepare(void)
{
	std::vector<complex> roots, out(POINTS);

	random_seed(5);
	input.resize(2 * TOTAL);
	for (float &v : input)
		v = 2 * random_float() - 1;
	root.clear();
	for (int k = 0; k < POINTS; k++) {
		roots.push_back(std::polar(1.0, -2 * M_PI * k / POINTS));
		root.push_back(roots[k].real());
		root.push_back(roots[k].imag());
	}
	expected.clear();
	for (int s = 0; s < SIGNALS; s++) {
		transform(&input[(size_t)2 * POINTS * s], 1, POINTS, roots.data(), out.data());
		for (complex v : out) {
			expected.push_back(v.real());
			expected.push_back(v.imag());
		}
	}
	found.assign(2 * TOTAL, NAN);
}

static void work(unsigned rounds)
{
	float2 *in = (float2 *)copy_in(input), *roots = (float2 *)copy_in(root), *out = device_array<float2>(TOTAL);

	run_rounds(rounds, [&] { fft_forward<<<SIGNALS, THREADS, 0, main_stream>>>(in, roots, out); });
	copy(found.data(), out, TOTAL * sizeof(*out), cudaMemcpyDeviceToHost);
}

/*
 * A float is rounded by 6e-8 of itself, a few times in each of the 5 passes, so that 1e-5 of the greatest value is far
 * above what comes of it.
 */
static uint64_t check(void)
{
	return count_wrong(found.data(), expected.data(), found.size(), 1e-5f);
}

const struct program fft = {"fft", 95000, 150, prepare, work, check};
