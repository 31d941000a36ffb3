#include "lib/process.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

static struct gmod_private_page off_page;
struct gmod_hot gmod_hot = {.page = &off_page};

/* getrandom from the kernel's pool; early in boot it could block, so then the call fails instead. */
static bool fresh_key(uint64_t key[2])
{
	return getrandom(key, 2 * sizeof(key[0]), GRND_NONBLOCK) == 2 * sizeof(key[0]);
}

bool gmod_process_arm(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct gmod_private_page *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	if (madvise(page, size, MADV_WIPEONFORK) || madvise(page, size, MADV_DONTDUMP) || !fresh_key(page->key)) {
		munmap(page, size);
		return false;
	}
	/* release: the key is in place for whoever reads it through the pointer */
	atomic_store_explicit(&gmod_hot.page, page, memory_order_release);
	return true;
}

void gmod_process_set_phase(enum gmod_phase phase)
{
	struct gmod_private_page *page = atomic_load_explicit(&gmod_hot.page, memory_order_acquire);

	if (page != &off_page)
		atomic_store_explicit(&page->phase, phase, memory_order_seq_cst);
}

bool gmod_process_is_forked_child(void)
{
	return atomic_load_explicit(&gmod_hot.page, memory_order_acquire) != &off_page && gmod_phase() == GMOD_OFF;
}

static atomic_int busy;
static __thread int own __attribute__((tls_model("initial-exec"))); /* of these, this thread's */

struct gmod_busy gmod_busy_begin(void)
{
	struct gmod_private_page *page = atomic_load_explicit(&gmod_hot.page, memory_order_acquire);
	struct gmod_busy b = {.cancel = gmod_hold_cancel()};

	own++;
	/* seq_cst, both: see process.h */
	atomic_fetch_add_explicit(&busy, 1, memory_order_seq_cst);
	b.on = atomic_load_explicit(&page->phase, memory_order_seq_cst) == GMOD_ON;
	return b;
}

void gmod_busy_end(struct gmod_busy b)
{
	atomic_fetch_sub_explicit(&busy, 1, memory_order_release);
	own--;
	gmod_let_cancel(b.cancel);
}

void gmod_busy_wait(unsigned milliseconds)
{
	for (unsigned i = 0; i < milliseconds && atomic_load_explicit(&busy, memory_order_seq_cst) > own; i++)
		usleep(1000);
}
