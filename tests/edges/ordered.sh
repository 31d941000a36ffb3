#!/usr/bin/env bash
# Memory in stream order, from many threads at once.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# churned NAME OPTIONS FINDINGS ARGUMENT...: edges/ordered ends as it should, with so many findings.
churned() {
	guarded "verbosity=1:$2" "$edges/ordered" "${@:4}"
	same "$1: it ends as it should" '0 done' "$status $out"
	same "$1: findings" "$3" "$(final_reports "$err")"
	says "$1: nothing is degraded" '; 0 degraded' "$err"
}

# CHURN=1000000 takes minutes.
check_churn() {
	local limit=1200 pairs=${CHURN:-20000}
	# The last of as many as there are places for: none of them is lost.
	churned "churn: all" max_overhead=100 1 "$pairs" plant
	says "churn: all: the one that was planted" 'size 1000 offset \+0 make_pooled' "$err"
	at_least "churn: all: most are guarded" $((pairs / 4)) "$(closing 'guarded \(' "$err")"
	churned "churn: some" max_overhead=1 0 "$pairs"
	at_least "churn: some: a few are guarded" 1 "$(closing 'guarded \(' "$err")"
}

# The second fill is held up in the driver, and others come behind its allocation meanwhile.
check_filled_late() {
	SIM_STALL=cuMemsetD32Async:2:900 as_alone "filled late" verbosity=1:max_overhead=100 "$edges/filled_late"
	same "filled late: nothing is reported" 0 "$(final_reports "$err")"
}

# The driver is slow to take the copy of a look, and the buffer is freed meanwhile, if the look has begun by then, as it has more
# often than not: the copy is not refused.
check_looked_at() {
	local time
	for time in first second third fourth; do
		SIM_STALL=cuMemcpyDtoHAsync_v2:1:120 as_alone "looked at, $time" verbosity=1:max_overhead=100 "$programs/good_pool_freed_while_looked_at"
		says "looked at, $time: nothing fails" '; 0 degraded;' "$err"
	done
}

# Nothing of ours goes where the device may not reach the memory.
check_other_device() {
	SIM_DEVICES=2 as_alone "other_device" verbosity=1:max_overhead=100 "$programs/good_pool_other_device"
	same "other_device: only its own is guarded" 1 "$(closing 'guarded \(' "$err")"
	same "other_device: and not looked at by the other one" 1 "$(closing 'freed unseen' "$err")"
}

# Whichever call of the library's own is refused.
check_faults() {
	local call
	alone "$programs/good_pool_record_stream"
	native="$status $out"
	for call in cuMemAllocAsync:1 cuMemAllocAsync:3 cuMemsetD32Async:1 'cuMemsetD32Async:*' cuMemcpyDtoHAsync_v2:2 \
		'cuMemcpyDtoHAsync_v2:*' 'cuMemHostRegister_v2:*' 'cuStreamGetCtx:*' 'cuDeviceGetMemPool:*' 'cuStreamQuery:*'; do
		guarded verbosity=1:max_overhead=100 env "SIM_FAIL=$call" "$programs/good_pool_record_stream"
		same "faults: $call: as alone" "$native" "$status $out"
		same "faults: $call: nothing is reported" 0 "$(final_reports "$err")"
	done
}

# Where the driver registers no memory of ours a look does not outlive its context.
check_nothing_registered() {
	SIM_FAIL='cuMemHostRegister_v2:*:801' as_alone "nothing_registered" verbosity=1:max_overhead=100 \
		"$programs/good_pool_ends_late"
	SIM_FAIL=cuMemHostRegister_v2:1-2:801 as_alone "nothing_registered: in the first context" \
		verbosity=1:max_overhead=100 "$programs/good_pool_ends_late"
}

run_checks "$@"
