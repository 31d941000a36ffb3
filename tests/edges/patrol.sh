#!/usr/bin/env bash
# The patrol's rounds: that there are some, what they find, and that they are in nobody's way.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# rounds LOG: how many came to their end.
rounds() {
	sed -nE 's/.*"patrols":([0-9]+).*/\1/p' "$1" | tail -n 1
}

# patrolled NAME LEAST FINDINGS HOW...: it ends and prints as it should, with so many rounds, or none, and so many findings.
patrolled() {
	local name=$1 least=$2 findings=$3 log=$work/guarded/log
	shift 3
	guarded "log_path=log:log_format=json:verbosity=2${options:+:$options}" "$edges/patrolled" "$@"
	if [ "$status" = 77 ]; then
		skip "$name" "${err#skipped: }"
		return
	fi
	same "$name: it ends as it should" "0" "$status"
	says_not "$name: found while the program runs" 'not found' "$out"
	same "$name: findings" "$findings" "$(grep -c '"status":"final"' "$log")"
	if [ "$least" = 0 ]; then
		same "$name: no round" 0 "$(rounds "$log")"
	else
		says "$name: at least $least rounds" '^yes' "$(awk -v n="$(rounds "$log")" -v least="$least" \
			'BEGIN { print (n >= least) ? "yes" : n }')"
	fi
	[ "$findings" = 0 ] || says "$name: which buffer, and where" '"offset":0,' "$(grep '"status":"final"' "$log")"
}

check_looks() {
	patrolled "looks: at a healthy program" 2 0 quiet
	patrolled "looks: and finds" 2 1 overrun
	patrolled "looks: more than a round can name" 2 5 row
	same "looks: each has its kernel" 5 "$(grep '"status":"final"' "$work/guarded/log" | grep -c '"kernel":"k_flip"')"
}

# Each word of a long redzone has its turn, and is known to have been intact then.
check_far_jump() {
	guarded log_path=report.log "$programs/bad_far_jump"
	says "far_jump: it is found" '4000 bytes past the end' "$(cat "$work/guarded/report.log")"
	says_not "far_jump: what was done long before is no suspect" 'k_fill' "$(cat "$work/guarded/report.log")"
}

# Where the driver takes the beginning of the list only, rounds do not speak of who is behind it.
check_half_a_list() {
	guarded log_path=report.log:backend=device env SIM_FAIL=cuMemHostRegister_v2:4-9999 "$programs/bad_of_many"
	says "half_a_list: the kernel that did it is a suspect" '^ +1\. k_fill x1 ' "$(cat "$work/guarded/report.log")"
}

# What kernels of the program can write to is believed in nothing.
check_scribbled() {
	patrolled "scribbled: the list" 2 1 list
	patrolled "scribbled: the answers" 2 1 answers
}

# What nobody waits for may be running for ever: the device is not kept awake for that.
check_rests() {
	options=max_cpu=100 patrolled "rests: looks" 2 0 unproven
	at_most "rests: less and less often" 750 "$(rounds "$work/guarded/log")"
}

check_frees() {
	patrolled "frees: nobody looks at memory that is gone" 2 1 frees
}

# CHURN=1000000 takes minutes.
check_churn() {
	local limit=1200
	patrolled "churn: beside threads that allocate and free" 2 1 churn "${CHURN:-20000}"
}

check_contexts() {
	patrolled "contexts: that end with their buffers" 2 1 contexts
}

check_forks() {
	patrolled "forks: children end meanwhile" 2 1 fork
}

# Its function would wait for that kernel, and the program's launches for the function.
check_beside_a_kernel_that_waits() {
	SIM_TRACE=$work/trace patrolled "beside a kernel that waits: nothing hangs" 2 1 stuck
	same "beside a kernel that waits: the function comes after it" "" \
		"$(awk '/cuKernelGetFunction.*libgmod/ { exit } /^cuStreamSynchronize / { n++ } END { if (n < 2) print n + 0 }' "$work/trace")"
}

# A stream of ours in each queue of the device: the next of the program's has the one that it would have had natively.
check_queues() {
	local connections streams
	while read -r connections streams; do
		rm -f "$work/trace"
		CUDA_DEVICE_MAX_CONNECTIONS=$connections SIM_TRACE=$work/trace patrolled "queues: $connections" 2 0 quiet
		same "queues: $connections: streams of the patrol" "$streams" \
			"$(awk '/^cuStreamCreateWithPriority .*libgmod/ { n++ } END { print n - 1 }' "$work/trace")"
	done <<-'END'
		1 1
		3 3
		none 8
		99 8
	END
}

# What only takes a queue may be late: it answers nothing, in the place of no round.
check_late_in_its_queue() {
	CUDA_DEVICE_MAX_CONNECTIONS=32 SIM_STALL=$(seq -s, -f patrol:1:%g 2 32) \
		patrolled "late in its queue: the others go on" 10 0 quiet
}

# The compiler's clean-up at exit crashes while it compiles; it runs before that of whoever came earlier.
check_ends() {
	SIM_STALL=compile:1:600 patrolled "ends: while the driver compiles" 0 0 quiet
}

# Where there is no patrol copies look instead, and nothing has failed.
check_cannot() {
	local call tool
	for call in cuLibraryLoadData cuLibraryGetKernel cuKernelGetFunction; do
		SIM_FAIL=$call:1 patrolled "cannot: $call" 0 1 overrun
			says "cannot: $call: it is said" 'no patrol: ' "$(cat "$work/guarded/log")"
		says_not "cannot: $call: nothing has failed" 'degraded: .*patrol' "$(cat "$work/guarded/log")"
	done
	for tool in CUDA_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_NSIGHT_INJECTION_PORT_RANGE_BEGIN \
		NV_SANITIZER_INJECTION_PORT_RANGE_BEGIN; do
		export "$tool=/nowhere"
		options=enabled=1 patrolled "cannot: a tool is there that sets $tool" 0 1 overrun
		unset "$tool"
	done
	CUDA_MODULE_LOADING=EAGER patrolled "cannot: modules are loaded eagerly" 0 1 overrun
	options=backend=unified patrolled "cannot: backend=unified" 0 1 overrun
}

run_checks "$@"
