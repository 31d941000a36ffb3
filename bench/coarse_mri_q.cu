/*
 * mri-q: the matrix Q of an MRI reconstruction, as in Parboil (Stone et al. 2008). For each voxel at x it is the sum,
 * over the samples of k-space, of |phi|^2 exp(2 pi i k.x). A first kernel makes |phi|^2 of each sample; the sum goes
 * over the samples in chunks that are put in constant memory.
 */
#include "coarse.h"

enum { SAMPLES = 2048, CHUNK = 1024, SIDE = 64, VOXELS = SIDE * SIDE * SIDE, BLOCK = 256 };

/* One voxel in so many is compared, as the CPU takes too long for all; an odd number, so that all columns are met. */
enum { CHECK_EACH = 131, CHECKED = (VOXELS + CHECK_EACH - 1) / CHECK_EACH };

enum { PHI_RE, PHI_IM, KX, KY, KZ, FIELDS };

struct q_sample {
	float k[3], weight; /* |phi|^2 */
};

struct q_image {
	float *position[3], *re, *im; /* of each voxel */
};

static __constant__ struct q_sample chunk[CHUNK];

static std::vector<float> fields[FIELDS], positions[3], expected, re, im;

static __global__ void q_phi_mag(const float *phi_re, const float *phi_im, float *phi_mag)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < SAMPLES)
		phi_mag[i] = phi_re[i] * phi_re[i] + phi_im[i] * phi_im[i];
}

/* Adds the chunk that is in constant memory. */
static __global__ void q_add_chunk(struct q_image image)
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
		const struct q_sample *s = &chunk[m];

		sincospif(2 * (s->k[0] * x + s->k[1] * y + s->k[2] * z), &sine, &cosine);
		re += s->weight * cosine;
		im += s->weight * sine;
	}
	image.re[i] = re;
	image.im[i] = im;
}

/* The same sum for one voxel. */
static void expect(unsigned voxel, float *re, float *im)
{
	double sum_re = 0, sum_im = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		double phi_re = fields[PHI_RE][i], phi_im = fields[PHI_IM][i],
		       weight = phi_re * phi_re + phi_im * phi_im, turns = 0;

		for (int axis = 0; axis < 3; axis++)
			turns += (double)fields[KX + axis][i] * positions[axis][voxel];
		sum_re += weight * cos(2 * M_PI * turns);
		sum_im += weight * sin(2 * M_PI * turns);
	}
	*re = sum_re;
	*im = sum_im;
}

/* Voxels are a grid of -0.5 <= x, y, z < 0.5; k is up to 16 periods over that, and phi up to 1. */
static void prepare(void)
{
	const int step[3] = {1, SIDE, SIDE * SIDE};

	random_seed(3);
	for (int f = 0; f < FIELDS; f++) {
		fields[f].resize(SAMPLES);
		for (float &v : fields[f])
			v = (f >= KX ? 16 : 1) * (2 * random_float() - 1);
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

/* The host puts what the kernel made together with k, as the original does. */
static void weigh_samples(const float *phi_re, const float *phi_im, float *phi_mag,
			  std::vector<struct q_sample> *samples)
{
	std::vector<float> weights(SAMPLES);

	q_phi_mag<<<blocks_for(SAMPLES, BLOCK), BLOCK, 0, main_stream>>>(phi_re, phi_im, phi_mag);
	copy(weights.data(), phi_mag, SAMPLES * sizeof(float), cudaMemcpyDeviceToHost);
	for (int i = 0; i < SAMPLES; i++)
		(*samples)[i] = {{fields[KX][i], fields[KY][i], fields[KZ][i]}, weights[i]};
}

static void sum_once(const std::vector<struct q_sample> &samples, struct q_image image)
{
	fill(image.re, 0, VOXELS * sizeof(float));
	fill(image.im, 0, VOXELS * sizeof(float));
	for (int i = 0; i < SAMPLES; i += CHUNK) {
		copy_to_symbol(chunk, &samples[i], cudaMemcpyHostToDevice);
		q_add_chunk<<<blocks_for(VOXELS, BLOCK), BLOCK, 0, main_stream>>>(image);
	}
}

static void work(unsigned rounds)
{
	float *phi_re = copy_in(fields[PHI_RE]), *phi_im = copy_in(fields[PHI_IM]),
	      *phi_mag = (float *)device_alloc(SAMPLES * sizeof(*phi_mag));
	std::vector<struct q_sample> samples(SAMPLES);
	struct q_image image;

	for (int axis = 0; axis < 3; axis++)
		image.position[axis] = copy_in(positions[axis]);
	image.re = (float *)device_alloc(VOXELS * sizeof(float));
	image.im = (float *)device_alloc(VOXELS * sizeof(float));
	run_rounds(rounds, [&] {
		weigh_samples(phi_re, phi_im, phi_mag, &samples);
		sum_once(samples, image);
	});
	copy_out(re, image.re);
	copy_out(im, image.im);
	for (float *p : {image.position[0], image.position[1], image.position[2], phi_re, phi_im, phi_mag})
		CUDA(cudaFree(p));
}

/*
 * k.x is up to 24 and is known, in float, to some 3e-6 of a turn, so each of the 2048 values that are added, of about
 * 0.7, may be wrong by 1e-5; the greatest sum is over 90. Were all the errors of one sign it would be 3e-4 of that.
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

const struct program mri_q = {"mri-q", 300, 1, prepare, work, check};
