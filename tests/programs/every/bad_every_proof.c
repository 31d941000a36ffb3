// expect: 22 x heap-buffer-overflow size 4096 offset +0 in make_buffer
// suspect: k_flip
// options: max_cpu=100:log_path=report.log
// under managed: skip-on: sim
/*
 * Each call that waits, or asks and is told that all is done, proves what ran before it: k_fill, which ran first, is no
 * suspect for what k_flip did after it. Where nothing proves it, it is one.
 */
#include "../make_buffer.h"
#include "every.h"
#include "include/gmod.h"

#include <stdbool.h>

static CUstream stream;
static CUevent event;
static unsigned char host[8];
static CUdeviceptr p;

/* What the last of so many final reports says of suspects. */
static const char *suspects(int reports)
{
	static char log[1 << 20];
	double end = tk_ms() + 5000;
	char *last, *next;
	int found;

	do {
		FILE *f = fopen("report.log", "r");

		found = 0;
		last = NULL;
		if (f) {
			log[fread(log, 1, sizeof(log) - 1, f)] = 0;
			fclose(f);
			for (next = log; (next = strstr(next, "SUMMARY: ")); next++)
				found++;
			for (next = log; (next = strstr(next, "suspects:")); next++)
				last = next;
		}
	} while (found < reports && tk_ms() < end);
	REQUIRE(found == reports && last && strstr(last, "    changed bytes"));
	*strstr(last, "    changed bytes") = 0;
	return last;
}

static void launch(const char *kernel, long long off, CUstream in)
{
	long long count = 4;
	int value = 0; /* no byte of a canary is 0 */

	tk_launch(tk_kernel(kernel), 1, 4, in, TK_ARGS(&p, &off, &count, &value));
}

/* Before. */
static void begin(CUstream in)
{
	p = make_buffer(4096);
	tk_sync();
	launch("k_fill", 0, in);
	tk_sleep_ms(5);
}

/* What is proven by now is so before the canaries are seen intact. */
static void look(void)
{
	enum gmod_status (*check)(void) = NULL;

	*(void **)&check = dlsym(RTLD_DEFAULT, "gmod_check");
	REQUIRE(check && check() == GMOD_OK);
}

/* After: what is proven has been looked at, and k_flip runs. */
static void end(const char *call, int r, bool proves)
{
	static int reports;
	const char *text;

	REQUIRE(r == CUDA_SUCCESS);
	look();
	launch("k_flip", 4096, stream);
	tk_sync();
	CK(cuMemFree(p));
	text = suspects(++reports);
	if (!strstr(text, "k_flip") || !strstr(text, "k_fill") != proves)
		fprintf(stderr, "%s: %s\n", call, text);
	REQUIRE(strstr(text, "k_flip") && !strstr(text, "k_fill") == proves);
}

#define PROVES(proves, in, symbol, ...) \
	do { \
		int r; \
\
		begin(in); \
		while ((r = hook_##symbol(__VA_ARGS__)) == CUDA_ERROR_NOT_READY) \
			; \
		end(#symbol, r, proves); \
	} while (0)

#define RECORDED(proves, in, symbol, ...) \
	do { \
		int r; \
\
		begin(in); \
		CK(hook_##symbol(__VA_ARGS__)); \
		while ((r = hook_cuEventQuery(event)) == CUDA_ERROR_NOT_READY) \
			; \
		end(#symbol, r, proves); \
	} while (0)

/* A query is a wait, too. */
#define EVENT_WAITED(proves, synchronized, in) \
	do { \
		begin(in); \
		CK(hook_cuEventRecord(event, synchronized)); \
		end("cuEventSynchronize", hook_cuEventSynchronize(event), proves); \
	} while (0)

/* Another stream waits for it, and nobody for that. */
#define JOINED(symbol, ...) \
	do { \
		begin(stream); \
		CK(hook_cuEventRecord(event, stream)); \
		end(#symbol, hook_##symbol(__VA_ARGS__), false); \
	} while (0)

/* Another stream waits for it, and is waited for. */
#define WAITED(in, synchronize, symbol, ...) \
	do { \
		begin(stream); \
		CK(hook_cuEventRecord(event, stream)); \
		CK(hook_##symbol(__VA_ARGS__)); \
		end(#symbol, hook_##synchronize(in), true); \
	} while (0)

int main(void)
{
	CUstream other = tk_stream();

	stream = tk_stream();
	every_by_name();
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	PROVES(true, stream, cuCtxSynchronize);
	PROVES(true, stream, cuStreamSynchronize, stream);
	PROVES(true, stream, cuStreamSynchronize_ptsz, stream);
	PROVES(true, CU_STREAM_PER_THREAD, cuStreamSynchronize_ptsz, NULL);
	PROVES(false, stream, cuStreamSynchronize_ptsz, NULL);
	PROVES(true, NULL, cuStreamSynchronize, NULL);
	PROVES(true, stream, cuStreamQuery, stream);
	PROVES(true, CU_STREAM_PER_THREAD, cuStreamQuery_ptsz, NULL);
	PROVES(false, stream, cuStreamSynchronize, other);
	PROVES(true, NULL, cuMemcpyDtoH_v2, host, p, 4);
	PROVES(true, CU_STREAM_PER_THREAD, cuMemcpyDtoH_v2_ptds, host, p, 4);
	RECORDED(true, stream, cuEventRecord, event, stream);
	RECORDED(true, CU_STREAM_PER_THREAD, cuEventRecord_ptsz, event, NULL);
	RECORDED(true, NULL, cuEventRecordWithFlags, event, NULL, 0);
	RECORDED(true, CU_STREAM_PER_THREAD, cuEventRecordWithFlags_ptsz, event, NULL, 0);
	RECORDED(false, stream, cuEventRecord, event, other);
	EVENT_WAITED(true, stream, stream);
	EVENT_WAITED(false, other, stream);
	JOINED(cuStreamWaitEvent, other, event, 0);
	JOINED(cuStreamWaitEvent_ptsz, other, event, 0);
	WAITED(other, cuStreamSynchronize, cuStreamWaitEvent, other, event, 0);
	WAITED(NULL, cuStreamSynchronize_ptsz, cuStreamWaitEvent_ptsz, NULL, event, 0);
}
