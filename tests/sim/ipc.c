/* Legacy IPC: a handle says which bytes of which process's device memory file they are. */
#include "sim.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct ticket {
	char magic[8];
	int pid, fd, device;
	uint64_t offset, size; /* in the file */
};

_Static_assert(sizeof(struct ticket) <= CU_IPC_HANDLE_SIZE, "a ticket must fit into a handle");

static const char ticket_magic[8] = "SIMIPC1";

/* Of an interior pointer it is the allocation's handle. */
static CUresult get_handle(CUipcMemHandle *out, CUdeviceptr at)
{
	struct block *block = block_find(at);
	struct ticket ticket = {.pid = getpid(), .fd = sim_device_arena.fd};

	if (!out || !block || block->kind != BLOCK_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(ticket.magic, ticket_magic, sizeof(ticket.magic));
	ticket.device = block->device;
	ticket.offset = block->base - sim_device_arena.base;
	ticket.size = block->size;
	memset(out, 0, sizeof(*out));
	memcpy(out, &ticket, sizeof(ticket));
	return CUDA_SUCCESS;
}

ENTRY(cuIpcGetMemHandle, NEEDS_CONTEXT, TAKES(CUipcMemHandle *pHandle, CUdeviceptr dptr), get_handle(pHandle, dptr))

/* What is mapped around the block: whole chunks, at an address of the arena. */
static size_t chunk_offset(uint64_t offset)
{
	return offset % SIM_CHUNK;
}

static CUresult map_ticket(const struct ticket *ticket, uintptr_t *out)
{
	size_t length = chunk_offset(ticket->offset) + ticket->size;
	char path[64];
	void *at;
	int fd;

	*out = chunks_take(length, true);
	if (!*out)
		return CUDA_ERROR_OUT_OF_MEMORY;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", ticket->pid, ticket->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	at = fd < 0 ? MAP_FAILED
		    : mmap((void *)*out, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
			   (off_t)(ticket->offset - chunk_offset(ticket->offset)));
	if (fd >= 0)
		close(fd);
	if (at != MAP_FAILED)
		return CUDA_SUCCESS;
	chunks_give(*out, length);
	return CUDA_ERROR_MAP_FAILED;
}

static CUresult open_handle(CUcontext ctx, CUdeviceptr *out, const CUipcMemHandle *handle, unsigned flags)
{
	struct ticket ticket;
	struct block *block;
	uintptr_t at;
	CUresult r;

	memcpy(&ticket, handle, sizeof(ticket));
	if (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS ||
	    memcmp(ticket.magic, ticket_magic, sizeof(ticket.magic)))
		return CUDA_ERROR_INVALID_VALUE;
	if (ticket.pid == getpid())
		return CUDA_ERROR_INVALID_CONTEXT;
	r = map_ticket(&ticket, &at);
	if (r)
		return r;
	block = block_new(BLOCK_IPC, ctx, at + chunk_offset(ticket.offset), ticket.size);
	access_open(at, chunk_offset(ticket.offset) + ticket.size, ctx->device, false);
	block_insert(block);
	*out = block->base;
	return CUDA_SUCCESS;
}

ENTRY_ABIS(cuIpcOpenMemHandle, _v2, NEEDS_CONTEXT, TAKES(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags),
	   open_handle(c.ctx, pdptr, &handle, Flags))

/* The exporter's bytes stay: only this process's view of them goes. */
void ipc_unmap(struct block *block)
{
	uintptr_t at = block->base / SIM_CHUNK * SIM_CHUNK;
	size_t length = block->base - at + block->size;

	range_close(at, (length + SIM_CHUNK - 1) / SIM_CHUNK * SIM_CHUNK);
	chunks_give(at, length);
}

static CUresult close_handle(CUdeviceptr at)
{
	struct block *block = block_find(at);

	if (!block || block->kind != BLOCK_IPC || block->base != at || block->freeing)
		return CUDA_ERROR_INVALID_VALUE;
	return block_wait_and_release(block);
}

ENTRY(cuIpcCloseMemHandle, NEEDS_CONTEXT, TAKES(CUdeviceptr dptr), close_handle(dptr))

/* What another process makes of an event of this one is not simulated: whoever opens a handle gets an event of its own.
 */
static CUresult get_event_handle(CUipcEventHandle *out, CUevent event)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!event_ok(event) || !(event->flags & CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_HANDLE;
	memset(out, 0, sizeof(*out));
	memcpy(out, "SIMIPCE", 8);
	return CUDA_SUCCESS;
}

ENTRY(cuIpcGetEventHandle, NEEDS_CONTEXT, TAKES(CUipcEventHandle *pHandle, CUevent event),
      get_event_handle(pHandle, event))

static CUresult open_event_handle(CUcontext ctx, CUevent *out, const CUipcEventHandle *handle)
{
	if (!out || memcmp(handle, "SIMIPCE", 8))
		return CUDA_ERROR_INVALID_VALUE;
	return event_new(ctx, out, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
}

ENTRY(cuIpcOpenEventHandle, NEEDS_CONTEXT, TAKES(CUevent *phEvent, CUipcEventHandle handle),
      open_event_handle(c.ctx, phEvent, &handle))
