// case: good_own_pool 0, 0
// case: bad_own_pool 1, 0 => heap-buffer-overflow size 1000 offset +0 in make_range; suspect: k_flip;
//    says: buffer .*, backend pool, allocation #[0-9]+, named "step 150"
// case: bad_own_pool_living 1, 1 => heap-buffer-overflow size 1000 offset +0 in make_range; suspect: k_flip;
//    says: buffer .*, backend pool, allocation #[0-9]+, named "step 150"
// case: bad_own_pool_left 0, 2 => leak size 65536 in make_buffer; options: max_overhead=100:leak_check=1
// options: max_overhead=100
// under managed: skip-on: sim
// ledger: looks at ranges arrive in pinned memory, as those in stream order do
/*
 * Two streams take ranges of a home-made pool and use each to its last byte, also where the one before it had guard
 * bytes: no host waits in between. One range is overrun, and given back, or it lives to the end. Ranges that are left
 * are no leaks: the pool is one.
 */
#include "own_pool.h"

#pragma weak gmod_findings_seen

enum { STEPS = 300, OVERRUN = 150, LIVE = 5 };

static const struct {
	int past, lives;
} how = {CASE};

/* Sizes differ, so that a range's bytes lie where another one's padding was. */
static size_t size_of(int step)
{
	return step == OVERRUN ? 1000 : 900 + (size_t)(step * 37 % 500);
}

static void use_range(int step, CUstream stream, CUdeviceptr live[LIVE], CUstream in[LIVE])
{
	int mine = step % LIVE, past = step == OVERRUN ? how.past : 0;
	char name[32];

	if (live[mine])
		give_range_back(live[mine], in[mine]);
	snprintf(name, sizeof(name), "step %d", step);
	live[mine] = make_range(size_of(step), stream, name);
	in[mine] = stream;
	tk_flip_on(stream, live[mine], 0, (long long)size_of(step));
	if (past) {
		CK(cuStreamSynchronize(stream));
		tk_sleep_ms(5);
		flip_end(live[mine], size_of(step), stream, past);
	}
}

/* The monitor looks at what lives. */
static void await_finding(void)
{
	double end = tk_ms() + 10000;

	if (!gmod_findings_seen)
		return;
	while (!gmod_findings_seen() && tk_ms() < end)
		tk_sleep_ms(1);
	REQUIRE(gmod_findings_seen() == 1);
}

int main(void)
{
	CUstream stream[2] = {tk_stream(), tk_stream()}, in[LIVE];
	CUdeviceptr live[LIVE] = {0};

	open_own_pool();
	for (int step = 0; step < (how.lives ? OVERRUN + 1 : STEPS); step++)
		use_range(step, stream[step / 3 % 2], live, in);
	tk_sync();
	if (how.lives == 2)
		return 0;
	if (how.lives)
		await_finding();
	for (int i = 0; i < LIVE; i++)
		give_range_back(live[i], in[i]);
	tk_sync();
	CK(cuMemFree(own_pool.memory));
}
