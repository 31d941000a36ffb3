/*
 * mri-q and mri-fhd: the matrix Q and the vector F^H d of an MRI reconstruction, as in Parboil (Stone et al. 2008). For
 * each voxel at x they are the sum, over the samples of k-space, of w exp(2 pi i k.x), with w = |phi|^2 for Q and
 * w = conj(phi) d for F^H d. A first kernel makes w of each sample; the sum goes over the samples in chunks that are
 * put in constant memory. For Q the host puts what the kernel made together with k, as the original does.
 */
#include "coarse.h"

enum { SAMPLES = 2048, SIDE = 64, VOXELS = SIDE * SIDE * SIDE, BLOCK = 256, Q_CHUNK = 1024, FHD_CHUNK = 512 };

/* One voxel in so many is compared, as the CPU takes too long for all; an odd number, so that all columns are met. */
enum { CHECK_EACH = 131, CHECKED = (VOXELS + CHECK_EACH - 1) / CHECK_EACH };

enum { KX, KY, KZ, PHI_RE, PHI_IM, D_RE, D_IM, FIELDS };

struct q_sample {
	float k[3], weight;
};

struct fhd_sample {
	float k[3], re, im;
};

struct fhd_scan {
	float *field[FIELDS]; /* of each sample */
};

struct image {
	float *position[3], *re, *im; /* of each voxel */
};

/* What the CPU has of one of the two. */
struct sums {
	std::vector<float> field[FIELDS], expected, re, im;
};

static struct sums q, fhd;
static std::vector<float> positions[3];

/* ---- kernels ---- */

static __constant__ struct q_sample q_chunk[Q_CHUNK];
static __constant__ struct fhd_sample fhd_chunk[FHD_CHUNK];

static __global__ void q_phi_mag(const float *phi_re, const float *phi_im, float *phi_mag)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < SAMPLES)
		phi_mag[i] = phi_re[i] * phi_re[i] + phi_im[i] * phi_im[i];
}

static __global__ void fhd_rho_phi(struct fhd_scan scan, struct fhd_sample *samples)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	float phi_re, phi_im, d_re, d_im;

	if (i >= SAMPLES)
		return;
	phi_re = scan.field[PHI_RE][i];
	phi_im = scan.field[PHI_IM][i];
	d_re = scan.field[D_RE][i];
	d_im = scan.field[D_IM][i];
	for (int axis = 0; axis < 3; axis++)
		samples[i].k[axis] = scan.field[KX + axis][i];
	samples[i].re = phi_re * d_re + phi_im * d_im;
	samples[i].im = phi_re * d_im - phi_im * d_re;
}

struct q_samples {
	enum { COUNT = Q_CHUNK };
	static __device__ const struct q_sample &at(int m)
	{
		return q_chunk[m];
	}
	static __device__ void add(const struct q_sample &s, float sine, float cosine, float *re, float *im)
	{
		*re += s.weight * cosine;
		*im += s.weight * sine;
	}
};

struct fhd_samples {
	enum { COUNT = FHD_CHUNK };
	static __device__ const struct fhd_sample &at(int m)
	{
		return fhd_chunk[m];
	}
	static __device__ void add(const struct fhd_sample &s, float sine, float cosine, float *re, float *im)
	{
		*re += s.re * cosine - s.im * sine;
		*im += s.im * cosine + s.re * sine;
	}
};

/* Adds the chunk that is in constant memory. */
template <class Samples> static __global__ void add_chunk(struct image image)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	float x, y, z, re, im, sine, cosine;

	if (i >= VOXELS)
		return;
	x = image.position[0][i];
	y = image.position[1][i];
	z = image.position[2][i];
	re = image.re[i];
	im = image.im[i];
	for (int m = 0; m < Samples::COUNT; m++) {
		const auto &s = Samples::at(m);

		sincospif(2 * (s.k[0] * x + s.k[1] * y + s.k[2] * z), &sine, &cosine);
		Samples::add(s, sine, cosine, &re, &im);
	}
	image.re[i] = re;
	image.im[i] = im;
}

/* ---- inputs, and what should come out ---- */

/* w of a sample: for Q its imaginary part is none. */
static void weigh(const struct sums &sums, unsigned i, double *re, double *im)
{
	double phi_re = sums.field[PHI_RE][i], phi_im = sums.field[PHI_IM][i];
	double d_re = &sums == &q ? phi_re : sums.field[D_RE][i], d_im = &sums == &q ? phi_im : sums.field[D_IM][i];

	*re = phi_re * d_re + phi_im * d_im;
	*im = phi_re * d_im - phi_im * d_re;
}

static void expect(const struct sums &sums, unsigned voxel, float *re, float *im)
{
	double sum_re = 0, sum_im = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		double turns = 0, sine, cosine, w_re, w_im;

		for (int axis = 0; axis < 3; axis++)
			turns += (double)sums.field[KX + axis][i] * positions[axis][voxel];
		sine = sin(2 * M_PI * turns);
		cosine = cos(2 * M_PI * turns);
		weigh(sums, i, &w_re, &w_im);
		sum_re += w_re * cosine - w_im * sine;
		sum_im += w_im * cosine + w_re * sine;
	}
	*re = sum_re;
	*im = sum_im;
}

/* Voxels are a grid of -0.5 <= x, y, z < 0.5; k is up to 16 periods over that, and phi and d up to 1. */
static void prepare(struct sums *sums, uint64_t seed, int fields)
{
	const int step[3] = {1, SIDE, SIDE * SIDE};

	random_seed(seed);
	for (int f = 0; f < fields; f++) {
		sums->field[f].resize(SAMPLES);
		for (float &v : sums->field[f])
			v = (f <= KZ ? 16 : 1) * (2 * random_float() - 1);
	}
	for (int axis = 0; axis < 3; axis++) {
		positions[axis].resize(VOXELS);
		for (int i = 0; i < VOXELS; i++)
			positions[axis][i] = (float)(i / step[axis] % SIDE) / SIDE - 0.5f;
	}
	sums->re.assign(VOXELS, NAN);
	sums->im.assign(VOXELS, NAN);
	sums->expected.resize(2 * CHECKED);
	for (int c = 0; c < CHECKED; c++)
		expect(*sums, c * CHECK_EACH, &sums->expected[2 * c], &sums->expected[2 * c + 1]);
}

/*
 * k.x is up to 24 and is known, in float, to some 3e-6 of a turn, so each of the 2048 values that are added, of about
 * 0.7, may be wrong by 1e-5; the greatest sum is over 70. Were all the errors of one sign it would be 3e-4 of that.
 */
static uint64_t check(const struct sums &sums)
{
	std::vector<float> found(2 * CHECKED);

	for (int c = 0; c < CHECKED; c++) {
		found[2 * c] = sums.re[c * CHECK_EACH];
		found[2 * c + 1] = sums.im[c * CHECK_EACH];
	}
	return count_wrong(found.data(), sums.expected.data(), found.size(), 3e-4f);
}

/* ---- the work ---- */

static struct image image_alloc(void)
{
	struct image image;

	for (int axis = 0; axis < 3; axis++)
		image.position[axis] = copy_in(positions[axis]);
	image.re = device_array<float>(VOXELS);
	image.im = device_array<float>(VOXELS);
	return image;
}

static void image_fill(struct image image)
{
	fill(image.re, 0, VOXELS * sizeof(float));
	fill(image.im, 0, VOXELS * sizeof(float));
}

template <class Samples> static void image_add(struct image image)
{
	add_chunk<Samples><<<blocks_for(VOXELS, BLOCK), BLOCK, 0, main_stream>>>(image);
}

static void image_out(struct sums *sums, struct image image)
{
	copy_out(sums->re, image.re);
	copy_out(sums->im, image.im);
}

static void q_round(const float *phi_re, const float *phi_im, float *phi_mag, std::vector<struct q_sample> *samples,
		    struct image image)
{
	std::vector<float> weights(SAMPLES);

	q_phi_mag<<<blocks_for(SAMPLES, BLOCK), BLOCK, 0, main_stream>>>(phi_re, phi_im, phi_mag);
	copy_out(weights, phi_mag);
	for (int i = 0; i < SAMPLES; i++)
		(*samples)[i] = {{q.field[KX][i], q.field[KY][i], q.field[KZ][i]}, weights[i]};
	image_fill(image);
	for (int i = 0; i < SAMPLES; i += Q_CHUNK) {
		copy_to_symbol(q_chunk, &(*samples)[i], cudaMemcpyHostToDevice);
		image_add<q_samples>(image);
	}
}

static void q_work(unsigned rounds)
{
	float *phi_re = copy_in(q.field[PHI_RE]), *phi_im = copy_in(q.field[PHI_IM]);
	float *phi_mag = device_array<float>(SAMPLES);
	std::vector<struct q_sample> samples(SAMPLES);
	struct image image = image_alloc();

	run_rounds(rounds, [&] { q_round(phi_re, phi_im, phi_mag, &samples, image); });
	image_out(&q, image);
}

static void fhd_round(struct fhd_scan scan, struct fhd_sample *samples, struct image image)
{
	image_fill(image);
	fhd_rho_phi<<<blocks_for(SAMPLES, BLOCK), BLOCK, 0, main_stream>>>(scan, samples);
	for (int i = 0; i < SAMPLES; i += FHD_CHUNK) {
		copy_to_symbol(fhd_chunk, samples + i, cudaMemcpyDeviceToDevice);
		image_add<fhd_samples>(image);
	}
}

static void fhd_work(unsigned rounds)
{
	struct fhd_sample *samples;
	struct fhd_scan scan;
	struct image image;

	for (int f = 0; f < FIELDS; f++)
		scan.field[f] = copy_in(fhd.field[f]);
	samples = device_array<struct fhd_sample>(SAMPLES);
	image = image_alloc();
	run_rounds(rounds, [&] { fhd_round(scan, samples, image); });
	image_out(&fhd, image);
}

const struct program mri_q = {"mri-q", 300, 1, [] { prepare(&q, 3, D_RE); }, q_work, [] { return check(q); }};
const struct program mri_fhd = {
    "mri-fhd", 300, 1, [] { prepare(&fhd, 2, FIELDS); }, fhd_work, [] { return check(fhd); }};
