#!/usr/bin/env bash
# What counts page traffic in a program (bench/pages.c), over a stand-in for CUPTI.
. "$(dirname "$0")/testlib"
needs_python3

# A CUPTI that has a record of each kind, two of some, and is asked as it wants to be.
cat >"$work/cupti.c" <<'CUPTI'
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct record { int kind, counter; uint64_t value, more[13]; };
static const struct record records[] = {
	{25, 1, 4096}, {25, 2, 65536}, {25, 1, 8192}, {25, 3, 0x401000}, {25, 3, 0x401000}, {25, 4, 5}, {25, 4, 6},
	{25, 5, 1}, {24, 1, 1},
};
static void (*ask)(uint8_t **, size_t *, size_t *);
static void (*take)(void *, uint32_t, uint8_t *, size_t, size_t);
static void (*tell)(void *, int, uint32_t, const void *);
static int domain_of, configured, enabled;

static const char *mode(void) { return getenv("MODE") ? getenv("MODE") : ""; }
int cuptiSubscribe(void **s, void *called, void *user) { *s = &tell; tell = called; return user != NULL; }
int cuptiEnableCallback(uint32_t on, void *s, int domain, uint32_t id)
{
	domain_of = domain;
	return !on || s != &tell || domain != 3 || id != 1;
}
int cuptiActivityRegisterCallbacks(void *a, void *t) { ask = a; take = t; return 0; }
int cuptiActivityConfigureUnifiedMemoryCounter(const uint32_t *config, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		configured |= config[i * 4 + 3] << config[i * 4 + 1];
	return !strcmp(mode(), "unsupported") ? 29 : 0;
}
int cuptiActivityEnable(int kind) { enabled = kind == 25 && configured == 0x1e; return 0; }
int cuptiActivityFlushAll(uint32_t flags)
{
	uint8_t *buffer;
	size_t size, max = 1, i = 0, n = sizeof(records) / sizeof(*records);

	for (; enabled && flags == 1 && i < n; i += 5) {
		size_t some = n - i < 5 ? n - i : 5;

		ask(&buffer, &size, &max);
		if (max || size < sizeof(records))
			return 1;
		memcpy(buffer, &records[i], some * sizeof(*records));
		take(NULL, 0, buffer, size, some * sizeof(*records));
	}
	return 0;
}
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct record **r)
{
	struct record *next = *r ? *r + 1 : (struct record *)buffer;

	if ((uint8_t *)next >= buffer + valid)
		return 12;
	*r = next;
	return 0;
}
int cuptiActivityGetNumDroppedRecords(void *c, uint32_t stream, size_t *dropped) { *dropped = !strcmp(mode(), "full"); return 0; }
int cuptiGetResultString(int result, const char **text) { *text = result == 29 ? "CUPTI_ERROR_OF_SORTS" : "?"; return 0; }
void make_context(void) { tell(NULL, domain_of, 1, NULL); tell(NULL, domain_of, 1, NULL); }
CUPTI
${CC:-gcc} -shared -fPIC -o "$work/cupti.so" "$work/cupti.c" 2>"$work/.err"
judge "a stand-in for CUPTI" $? "$(cat "$work/.err")"
# loaded CUPTI [no-context]: what is said of a program in which the library is loaded.
loaded() {
	rm -f "$work/pages"
	GMOD_CUPTI=$1 GMOD_PAGES=$work/pages python3 -c "
import ctypes, sys
ctypes.CDLL('$build/bench/libpages.so').InitializeInjection()
len(sys.argv) > 1 or ctypes.CDLL('$1').make_context()" "${@:2}"
	cat "$work/pages"
}
same "what moved, added up" "htod_bytes=12288 dtoh_bytes=65536 cpu_faults=2 gpu_faults=11 dropped=0" "$(loaded "$work/cupti.so")"
says "records that were dropped" ' dropped=2$' "$(MODE=full loaded "$work/cupti.so")"
same "what CUPTI refuses" "skipped: cuptiActivityConfigureUnifiedMemoryCounter: CUPTI_ERROR_OF_SORTS" \
	"$(MODE=unsupported loaded "$work/cupti.so")"
same "no context, no counts" "skipped: CUPTI: it saw no context" "$(loaded "$work/cupti.so" no-context)"
same "no CUPTI" "skipped: libcupti: it is not here" "$(loaded "$work/absent.so" no-context)"
same "another library" "skipped: libcupti has no: cuptiSubscribe" "$(loaded "$build/bench/libpages.so" no-context)"
same "without a file it is said on stderr" "skipped: libcupti: it is not here" "$(GMOD_CUPTI=$work/absent.so python3 -c "
import ctypes
ctypes.CDLL('$build/bench/libpages.so').InitializeInjection()" 2>&1)"

finish
