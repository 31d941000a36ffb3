#!/usr/bin/env bash
# What GMOD does to spare the program time and memory, and could leave out without a wrong word: counted in the driver's
# calls, in pages and in buffers.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# Slack on the device is gathered into GMOD's own pages, of many buffers in one call.
check_gather() {
	traced scan_interval_us=100000 "$edges/busy" 400 400
	at_least "gather: so it is looked at" 4 "$(calls_of cuMemcpyBatchAsync_v2)"
	# Four for what is near, now and then, and 25 for all of it in the end.
	at_most "gather: in a few calls" 60 "$(calls_of cuMemcpyBatchAsync_v2)"
	same "gather: no copy is alone" 0 "$(calls_of cuMemcpyDtoHAsync_v2)"
	same "gather: the driver allocates no memory for it" 0 "$(calls_of cuMemHostAlloc)"
}

# spared SIZE TIMES OPTIONS: what the program says, natively nothing at all; $kept and $pages.
spared() {
	guarded "$3" "$edges/spared" "$1" "$2"
	read -r kept pages < <(sed 's/ KiB, / /; s/ pages$//' <<<"$out")
}

# A small buffer comes and goes without new memory of the host's. What the device writes to is kept from children, who would
# take the pages along.
check_pages() {
	alone "$edges/spared" 1000 200
	same "pages: natively none is kept from children" 0 "${out%% *}"
	spared 1000 200 ''
	# The patrol's list and answers are 4160 KiB, and what the monitor keeps beside them is a page; only what is used is there.
	same "pages: where slack is gathered to, and the patrol's, is kept from children" 4436 "$kept"
	at_most "pages: a small buffer touches no new ones" 150 "$pages"
	spared 2097152 5 backend=unified
	same "pages: so are the canary pages of a large buffer" 8 "$kept"
}

# As many large buffers are mapped as there may be mappings, and when they have gone as many again.
check_mapped() {
	guarded backend=unified:verbosity=1 env SIM_MEMORY=12884901888 "$programs/good_large_many"
	says "mapped: 4096 at once, and what redzone_mb allows" 'guarded 8222 of 8600 buffers' "$err"
	as_alone "mapped: a context takes its own along" backend=unified env SIM_MEMORY=268435456 \
		"$programs/good_large_come_and_go"
}

# Where managed memory lies is the driver's to decide, by advice: canaries with the host, where the device reaches them,
# and the body of what stands for device memory with the device.
check_placed() {
	traced backend=managed "$edges/busy" 3 1
	same "placed: advice, prefetches" "15 3" "$(calls_of cuMemAdvise) $(calls_of cuMemPrefetchAsync)"
}

run_checks "$@"
