#include "lib/base/origin.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/asked.h"

struct gmod_origin gmod_origin;

static const char *find_rank(void)
{
	static const char *const variable[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",
					       "MV2_COMM_WORLD_RANK",  "PALS_RANKID",  "JSM_NAMESPACE_RANK",
					       "FLUX_TASK_RANK",       "SLURM_PROCID", "RANK"};
	/* torchrun's goes before that of what has started torchrun. */
	const char *rank = getenv("LOCAL_RANK") ? getenv("RANK") : NULL;

	for (size_t i = 0; i < sizeof(variable) / sizeof(variable[0]) && !rank; i++)
		rank = getenv(variable[i]);
	while (rank && rank[0] == '0' && rank[1])
		rank++; /* a number in JSON has no zero in front */
	return rank && !rank[strspn(rank, "0123456789")] && strlen(rank) < sizeof(gmod_origin.rank) ? rank : "";
}

void gmod_origin_read(void)
{
	snprintf(gmod_origin.rank, sizeof(gmod_origin.rank), "%s", find_rank());
	if (gethostname(gmod_origin.host, sizeof(gmod_origin.host) - 1) != 0)
		snprintf(gmod_origin.host, sizeof(gmod_origin.host), "localhost");
}

static _Atomic uint64_t gpus[GMOD_DEVICES][2]; /* a UUID's bytes, which never change; zeros: unknown */

void gmod_gpu_met(int device, const uint64_t uuid[2])
{
	for (int i = 0; i < 2 && device >= 0 && device < GMOD_DEVICES; i++)
		atomic_store_explicit(&gpus[device][i], uuid[i], memory_order_relaxed);
}

void gmod_text_gpu(struct gmod_text *t, int device)
{
	for (int i = 0; i < 16 && device >= 0 && device < GMOD_DEVICES; i++) {
		uint64_t half = atomic_load_explicit(&gpus[device][i / 8], memory_order_relaxed);

		if (half)
			gmod_text_fmt(t, "%s%02x",
				      i == 0                            ? "GPU-"
				      : i >= 4 && i <= 10 && i % 2 == 0 ? "-"
									: "",
				      (unsigned)(half >> i % 8 * 8 & 0xff));
	}
}
