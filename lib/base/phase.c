#include "lib/base/phase.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* All zeros: no page of the library's file, but an anonymous one, as MADV_WIPEONFORK wants it. */
struct gmod_hot gmod_hot;
static atomic_bool armed;

/* getrandom from the kernel's pool; early in boot it could block, so then the call fails instead. */
static bool fresh_key(uint64_t key[2])
{
	return getrandom(key, 2 * sizeof(key[0]), GRND_NONBLOCK) == 2 * sizeof(key[0]);
}

static void wipe(void)
{
	memset(&gmod_hot, 0, sizeof(gmod_hot));
}

/* gVisor's kernel does not wipe: then fork() has the child do it. */
static bool wiped_in_children(void)
{
	return !madvise(&gmod_hot, sizeof(gmod_hot), MADV_WIPEONFORK) || !pthread_atfork(NULL, NULL, wipe);
}

bool gmod_phase_arm(void)
{
	if (!wiped_in_children() || madvise(&gmod_hot, sizeof(gmod_hot), MADV_DONTDUMP) || !fresh_key(gmod_hot.key))
		return false;
	gmod_hot.process = getpid();
	/* release: the key is in place for whoever sees GMOD on */
	atomic_store_explicit(&armed, true, memory_order_release);
	return true;
}

void gmod_phase_set(enum gmod_phase phase)
{
	if (atomic_load_explicit(&armed, memory_order_acquire))
		atomic_store_explicit(&gmod_hot.phase, phase, memory_order_seq_cst);
}

bool gmod_phase_is_ours(void)
{
	return gmod_phase() != GMOD_OFF && getpid() == gmod_hot.process;
}

static atomic_int busy;
static __thread int own __attribute__((tls_model("initial-exec"))); /* of these, this thread's */

struct gmod_busy gmod_busy_begin(void)
{
	struct gmod_busy b = {.cancel = gmod_cancel_begin()};

	own++;
	/* seq_cst, both: see phase.h */
	atomic_fetch_add_explicit(&busy, 1, memory_order_seq_cst);
	b.on = atomic_load_explicit(&gmod_hot.phase, memory_order_seq_cst) == GMOD_ON;
	return b;
}

void gmod_busy_end(struct gmod_busy b)
{
	atomic_fetch_sub_explicit(&busy, 1, memory_order_release);
	own--;
	gmod_cancel_end(b.cancel);
}

void gmod_busy_wait(unsigned milliseconds)
{
	for (unsigned i = 0; i < milliseconds && atomic_load_explicit(&busy, memory_order_seq_cst) > own; i++)
		usleep(1000);
}
