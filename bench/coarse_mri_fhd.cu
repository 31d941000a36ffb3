/*
 * mri-fhd: the vector F^H d of an MRI reconstruction, as in Parboil (Stone et al. 2008). For each voxel at x it is the
 * sum, over the samples of k-space, of conj(phi) d exp(2 pi i k.x). A first kernel makes conj(phi) d of each sample;
 * the sum goes over the samples in chunks that are put in constant memory.
 */
#include "coarse.h"

enum { SAMPLES = 2048, CHUNK = 512, SIDE = 64, VOXELS = SIDE * SIDE * SIDE, BLOCK = 256 };

/* One voxel in so many is compared, as the CPU takes too long for all; an odd number, so that all columns are met. */
enum { CHECK_EACH = 131, CHECKED = (VOXELS + CHECK_EACH - 1) / CHECK_EACH };

enum { KX, KY, KZ, PHI_RE, PHI_IM, D_RE, D_IM, FIELDS };

struct fhd_scan {
	float *field[FIELDS]; /* of each sample */
};

struct fhd_image {
	float *position[3], *re, *im; /* of each voxel */
};

struct fhd_sample {
	float k[3], re, im; /* re + i im is conj(phi) d */
};

static __constant__ struct fhd_sample chunk[CHUNK];

static std::vector<float> fields[FIELDS], positions[3], expected, re, im;

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

/* Adds the chunk that is in constant memory. */
static __global__ void fhd_add_chunk(struct fhd_image image)
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
	for (int m = 0; m < CHUNK; m++) {
		const struct fhd_sample *s = &chunk[m];

		sincospif(2 * (s->k[0] * x + s->k[1] * y + s->k[2] * z), &sine, &cosine);
		re += s->re * cosine - s->im * sine;
		im += s->im * cosine + s->re * sine;
	}
	image.re[i] = re;
	image.im[i] = im;
}

/* The same sum for one voxel. */
static void expect(unsigned voxel, float *re, float *im)
{
	double sum_re = 0, sum_im = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		double phi_re = fields[PHI_RE][i], phi_im = fields[PHI_IM][i], d_re = fields[D_RE][i],
		       d_im = fields[D_IM][i], rho_re = phi_re * d_re + phi_im * d_im,
		       rho_im = phi_re * d_im - phi_im * d_re, turns = 0, sine, cosine;

		for (int axis = 0; axis < 3; axis++)
			turns += (double)fields[KX + axis][i] * positions[axis][voxel];
		sine = sin(2 * M_PI * turns);
		cosine = cos(2 * M_PI * turns);
		sum_re += rho_re * cosine - rho_im * sine;
		sum_im += rho_im * cosine + rho_re * sine;
	}
	*re = sum_re;
	*im = sum_im;
}

/* Voxels are a grid of -0.5 <= x, y, z < 0.5; k is up to 16 periods over that, and phi and d up to 1. */
static void prepare(void)
{
	const int step[3] = {1, SIDE, SIDE * SIDE};

	random_seed(2);
	for (int f = 0; f < FIELDS; f++) {
		fields[f].resize(SAMPLES);
		for (float &v : fields[f])
			v = (f <= KZ ? 16 : 1) * (2 * random_float() - 1);
	}
	for (int axis = 0; axis < 3; axis++) {
		positions[axis].resize(VOXELS);
		for (int i = 0; i < VOXELS; i++)
			positions[axis][i] = (float)(i / step[axis] % SIDE) / SIDE - 0.5f;
	}
	re.assign(VOXELS, NAN);
	im.assign(VOXELS, NAN);
	expected.resize(2 * CHECKED);
	for (int c = 0; c < CHECKED; c++)
		expect(c * CHECK_EACH, &expected[2 * c], &expected[2 * c + 1]);
}

static void sum_once(struct fhd_scan scan, struct fhd_sample *samples, struct fhd_image image)
{
	fill(image.re, 0, VOXELS * sizeof(float));
	fill(image.im, 0, VOXELS * sizeof(float));
	fhd_rho_phi<<<blocks_for(SAMPLES, BLOCK), BLOCK, 0, main_stream>>>(scan, samples);
	for (int i = 0; i < SAMPLES; i += CHUNK) {
		copy_to_symbol(chunk, samples + i, cudaMemcpyDeviceToDevice);
		fhd_add_chunk<<<blocks_for(VOXELS, BLOCK), BLOCK, 0, main_stream>>>(image);
	}
}

static void work(unsigned rounds)
{
	struct fhd_sample *samples;
	struct fhd_image image;
	struct fhd_scan scan;

	for (int f = 0; f < FIELDS; f++)
		scan.field[f] = copy_in(fields[f]);
	samples = (struct fhd_sample *)device_alloc(SAMPLES * sizeof(*samples));
	for (int axis = 0; axis < 3; axis++)
		image.position[axis] = copy_in(positions[axis]);
	image.re = (float *)device_alloc(VOXELS * sizeof(float));
	image.im = (float *)device_alloc(VOXELS * sizeof(float));
	run_rounds(rounds, [&] { sum_once(scan, samples, image); });
	copy_out(re, image.re);
	copy_out(im, image.im);
	for (float *p : image.position)
		CUDA(cudaFree(p));
	CUDA(cudaFree(samples));
	for (float *p : scan.field)
		CUDA(cudaFree(p));
}

/*
 * k.x is up to 24 and is known, in float, to some 3e-6 of a turn, so each of the 2048 values that are added, of about
 * 0.5, may be wrong by 1e-5; the greatest sum is over 70. Were all the errors of one sign it would be 3e-4 of that.
 */
static uint64_t check(void)
{
	std::vector<float> found(2 * CHECKED);

	for (int c = 0; c < CHECKED; c++) {
		found[2 * c] = re[c * CHECK_EACH];
		found[2 * c + 1] = im[c * CHECK_EACH];
	}
	return count_wrong(found.data(), expected.data(), found.size(), 3e-4f);
}

const struct program mri_fhd = {"mri-fhd", 300, 1, prepare, work, check};
