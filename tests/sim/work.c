/* A piece of work: how each kind runs, is copied into a graph and is thrown away. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define LARGE_FILL ((size_t)1 << 20)

__thread bool sim_in_host_function;

void kernel_point(struct work_kernel *kernel)
{
	for (unsigned i = 0; i < GT_MAX_PARAMS; i++)
		kernel->pointers[i] = kernel->large[i] ?: kernel->args[i];
}

/* From one point of a box to the next, x fastest: false behind the last, with the point back at the first. */
static bool step(unsigned point[3], const unsigned dim[3])
{
	for (int i = 0; i < 3; i++) {
		if (++point[i] < dim[i])
			return true;
		point[i] = 0;
	}
	return false;
}

/* What takes processors waits for a kernel that fills the device; a kernel may then fill it itself. */
static CUresult find_place(CUcontext ctx, const struct work *work)
{
	struct device *device = &sim.device[ctx->device];
	const struct work_kernel *k = &work->kernel;
	CUresult r;

	sim_lock();
	while (device->full && !ctx->sticky && sim.state != SIM_TORN_DOWN)
		pthread_cond_wait(&sim.done, sim_the_lock());
	r = ctx->sticky;
	if (!r && work->kind == WORK_KERNEL && kernel_blocks(k->grid) >= kernel_places(k->block))
		device->full = work;
	sim_unlock();
	return r;
}

static void leave_place(CUcontext ctx, const struct work *work)
{
	struct device *device = &sim.device[ctx->device];

	sim_lock();
	if (device->full == work) {
		device->full = NULL;
		pthread_cond_broadcast(&sim.done);
	}
	sim_unlock();
}

struct run {
	struct work *work;
	struct gt_thread self;
};

static void run_kernel(void *arg)
{
	struct run *run = arg;
	struct work_kernel *k = &run->work->kernel;
	struct gt_thread *self = &run->self;
	size_t left = kernel_blocks(k->grid), places = kernel_places(k->block);

	access_begin(k, run + 1);
	kernel_point(k);
	memcpy(self->grid, k->grid, sizeof(self->grid));
	memcpy(self->block, k->block, sizeof(self->block));
	do {
		do
			k->code->run(self, k->pointers);
		while (step(self->thread_index, k->block));
		if (left-- == places)
			leave_place(k->ctx, run->work);
	} while (step(self->block_index, k->grid));
}

static CUresult run_kernel_in_place(struct work *work)
{
	struct run run = {.work = work};
	CUresult r;

	if (coredump_holds_kernels())
		return CUDA_SUCCESS;
	r = find_place(work->kernel.ctx, work);
	if (!r) {
		r = fault_guard(run_kernel, &run);
		leave_place(work->kernel.ctx, work);
		r = r ? coredump_take(&work->kernel, &run.self, r) : r;
	}
	return r;
}

/* Not by the C library: a sanitizer that watches it would take the device for a thread. */
static void copy_row(uintptr_t to, uintptr_t from, size_t bytes)
{
#if defined(__x86_64__)
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
	while (bytes--)
		*(volatile char *)to++ = *(volatile char *)from++;
#endif
}

static void run_copy(void *arg)
{
	const struct work_copy *c = arg;

	for (size_t z = 0; z < c->depth; z++)
		for (size_t y = 0; y < c->height; y++)
			copy_row(c->dst + z * c->dst_slice + y * c->dst_pitch,
				 c->src + z * c->src_slice + y * c->src_pitch, c->width);
}

static void run_set(void *arg)
{
	const struct work_set *s = arg;

	for (size_t y = 0; y < s->height; y++)
		for (size_t x = 0; x < s->width; x++)
			memcpy((void *)(s->dst + y * s->pitch + x * s->element), &s->value, s->element);
}

/* Large fills are kernels. */
static CUresult run_fill(CUcontext ctx, struct work *work)
{
	const struct work_set *s = &work->set;
	CUresult r = s->width * s->height * s->element >= LARGE_FILL ? find_place(ctx, work) : CUDA_SUCCESS;

	/* measured, of memory that is no longer mapped */
	return r ?: fault_guard(run_set, &work->set) ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

static void run_host(const struct work *work)
{
	sim_in_host_function = true;
	if (work->host.fn)
		work->host.fn(work->host.data);
	else
		work->host.callback(work->host.stream, CUDA_SUCCESS, work->host.data);
	sim_in_host_function = false;
}

static CUresult run_alloc(uintptr_t at)
{
	CUresult r;

	sim_lock();
	r = graph_map(at);
	sim_unlock();
	return r;
}

static CUresult run_free(uintptr_t at)
{
	struct block *block;

	sim_lock();
	block = block_find(at);
	if (block && block->base == at)
		block_release(block);
	sim_unlock();
	return CUDA_SUCCESS;
}

static CUresult run_graph(CUcontext ctx, struct work_graph *graph)
{
	CUresult r = CUDA_SUCCESS;

	for (size_t i = 0; i < graph->count && !r; i++)
		r = work_run(ctx, &graph->list[i]);
	return r;
}

/* Called without the lock. An error is the context's sticky error. */
CUresult work_run(CUcontext ctx, struct work *work)
{
	switch (work->kind) {
	case WORK_KERNEL:
		return run_kernel_in_place(work);
	case WORK_COPY:
		return fault_guard(run_copy, &work->copy);
	case WORK_SET:
		/* A kernel of the driver's own. */
		return coredump_holds_kernels() ? CUDA_SUCCESS : run_fill(ctx, work);
	case WORK_HOST:
		run_host(work);
		return CUDA_SUCCESS;
	case WORK_GRAPH:
		return run_graph(ctx, &work->graph);
	case WORK_ALLOC:
		return run_alloc(work->memory);
	case WORK_FREE:
		return run_free(work->memory);
	case WORK_MEMOPS:
		return fault_guard(run_memops, &work->memops);
	case WORK_NONE:
		break;
	}
	return CUDA_SUCCESS;
}

static CUresult clone_list(struct work_graph *to, const struct work_graph *from)
{
	to->count = 0;
	to->list = calloc(from->count ? from->count : 1, sizeof(*to->list));
	if (!to->list)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; i < from->count; i++, to->count++) {
		CUresult r = work_clone(&to->list[i], &from->list[i]);

		if (r)
			return r;
	}
	return CUDA_SUCCESS;
}

static CUresult clone_memops(struct work_memops *to, const struct work_memops *from)
{
	to->list = calloc(from->count, sizeof(*to->list));
	if (!to->list)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(to->list, from->list, from->count * sizeof(*to->list));
	return CUDA_SUCCESS;
}

static CUresult clone_large(struct work_kernel *to, const struct work_kernel *from)
{
	memset(to->large, 0, sizeof(to->large));
	for (unsigned i = 0; i < from->code->params; i++) {
		if (!from->large[i])
			continue;
		to->large[i] = malloc(from->code->size[i]);
		if (!to->large[i])
			return CUDA_ERROR_OUT_OF_MEMORY;
		memcpy(to->large[i], from->large[i], from->code->size[i]);
	}
	return CUDA_SUCCESS;
}

/* Staged bytes are not copied: work in a graph has none, it reads its source when it runs. */
CUresult work_clone(struct work *to, const struct work *from)
{
	*to = *from;
	if (from->kind == WORK_KERNEL)
		return clone_large(&to->kernel, &from->kernel);
	if (from->kind == WORK_GRAPH)
		return clone_list(&to->graph, &from->graph);
	if (from->kind == WORK_MEMOPS)
		return clone_memops(&to->memops, &from->memops);
	return CUDA_SUCCESS;
}

void work_clear(struct work *work)
{
	if (work->kind == WORK_COPY)
		free(work->copy.staged);
	if (work->kind == WORK_MEMOPS)
		free(work->memops.list);
	for (unsigned i = 0; work->kind == WORK_KERNEL && i < GT_MAX_PARAMS; i++)
		free(work->kernel.large[i]);
	if (work->kind == WORK_GRAPH) {
		for (size_t i = 0; i < work->graph.count; i++)
			work_clear(&work->graph.list[i]);
		free(work->graph.list);
	}
	work->kind = WORK_NONE;
}
