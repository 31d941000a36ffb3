#!/usr/bin/env bash
# Every driver call that the library makes on its own fails once: the program must not notice, and the closing line must
# count the run as degraded, or what was left native as unprotected.
#
#   faults.sh [own_calls|free_fails|...]      one check, or all
#
# Which calls those are is found out, not listed: everything.c runs with a trace, alone and under GMOD, and what is called
# more often under GMOD is the library's. Where the program makes the same call too, the failing call is tried one after
# another until it is the library's own.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

program=$edges/everything
most_tries=8

# calls FILE: "NAME COUNT" of a trace, sorted by name.
calls() {
	cut -d' ' -f1 "$1" | sort | uniq -c | awk '{ print $2, $1 }'
}

# calls_of_its_own: "NAME NATIVELY GUARDED" of what the traces have more often under GMOD than alone.
calls_of_its_own() {
	join -a 2 -e 0 -o 0,1.2,2.2 <(calls "$work/native.trace") <(calls "$work/guarded.trace") | awk '$3 > $2'
}

# program_saw_it NAME TIMES: is what the guarded run gave what the program gives alone when one of its own calls fails?
program_saw_it() {
	local name=$1 times=$2 n got_status=$status got_out=$out
	for ((n = 1; n <= times; n++)); do
		alone env "SIM_FAIL=$name:$n" "$program"
		[ "$status" = "$got_status" ] && [ "$out" = "$got_out" ] && return 0
	done
	return 1
}

# Where the driver registers no memory of ours, its own serves. The other one waits for a look that is slow (below).
has_another_way() {
	[[ $1 == cuMemHostRegister_v2 || $1 == cuStreamSynchronize ]]
}

# Calls for which the library has others that do the same: copies in place of the patrol, too.
has_a_substitute() {
	[[ $1 =~ ^cu(MemcpyBatchAsync|LibraryLoadData$|LibraryGetKernel$|KernelGetFunction$|ModuleGetLoadingMode$|MemHostGetDevicePointer_v2$) ]]
}

# What a call that fails does not give back stays.
gives_back() {
	[[ $1 =~ ^cu(MemFree|MemUnmap|MemAddressFree|MemRelease|MemHostUnregister|EventDestroy|StreamDestroy) ]]
}

# kept_too_much NAME: what the guarded run just made, in which NAME has failed, has left in the driver and the native run
# has not; nothing if all is well.
kept_too_much() {
	gives_back "$1" || left_over "$work/native.ledger" "$work/guarded.ledger"
}

# with_fault OPTIONS NAME:CALLS COMMAND...: the guarded run in which these calls of NAME fail, with a ledger.
with_fault() {
	rm -f "$work/guarded.ledger"
	guarded "verbosity=1:$1" env "SIM_LEDGER=$work/guarded.ledger" "SIM_FAIL=$2" "${@:3}"
}

# judge_fault NAME: what is wrong with the guarded run just made, in which NAME has failed; nothing if all is well.
judge_fault() {
	local unprotected kept
	case $status in
	124 | 137) echo "it hangs" && return ;;
	esac
	[ "$status" -eq "$native_status" ] || { echo "exit status $status instead of $native_status"; return; }
	[ "$out" = "$native_out" ] || { echo "it prints something else than alone"; return; }
	[ "$(final_reports "$err")" -eq 0 ] || { echo "something was reported"; return; }
	kept=$(kept_too_much "$1")
	[ -z "$kept" ] || { echo "at its end there are $kept"; return; }
	# A refused copy of the program's is no fault of ours, a buffer that stayed native is.
	unprotected=$(sed -nE 's/.*guarded ([0-9]+) of ([0-9]+) buffers?,.*/\2-\1/p' <<<"$err" | tail -n 1)
	[ "$unprotected" ] || { echo "there is no closing line"; return; }
	has_a_substitute "$1" || [ "$(closing degraded "$err")" -gt 0 ] || [ $((unprotected)) -gt 0 ] ||
		echo "it is not counted as degraded"
}

# fail_own NAME NATIVELY GUARDED: fails calls of NAME until the failing one was the library's own; where all are, also
# every one at once.
fail_own() {
	local name=$1 natively=$2 times=$3 nth wrong program_err
	for ((nth = 1; nth <= times && nth <= most_tries; nth++)); do
		with_fault '' "$name:$nth" "$program"
		wrong=$(judge_fault "$name")
		[ "$wrong" ] || {
			pass "own_calls: $name:$nth"
			[ "$natively" -gt 0 ] || never_gives_back "$name" || fail_all "$name"
			return
		}
		program_err=$err
		[ "$natively" -gt 0 ] && program_saw_it "$name" "$natively" && continue
		fail "own_calls: $name:$nth: $wrong" "$program_err"
		return
	done
	fail "own_calls: $name: no call of the library's own among the first $((nth - 1))"
}

# A driver that never gives memory back has less of it afterwards, and the program can tell.
never_gives_back() {
	[ "$1" = cuMemRelease ] || [ "$1" = cuMemUnmap ]
}

fail_all() {
	local wrong
	with_fault '' "$1:*" "$program"
	wrong=$(judge_fault "$1")
	[ -z "$wrong" ]
	judge "own_calls: $1:*" $? "$wrong" "$err"
}

check_own_calls() {
	local name natively times count=0
	alone env "SIM_TRACE=$work/native.trace" "SIM_LEDGER=$work/native.ledger" "$program"
	native_status=$status native_out=$out
	if [ "$status" -ne 0 ]; then
		fail "own_calls: alone it ends with $status" "$out" "$err"
		return
	fi
	guarded verbosity=1 env "SIM_TRACE=$work/guarded.trace" "$program"
	same "own_calls: without a fault the output is as alone" "$native_out" "$out"
	says "own_calls: without a fault nothing is degraded" ' 0 degraded' "$err"
	while read -r name natively times; do
		has_another_way "$name" && continue
		count=$((count + 1))
		fail_own "$name" "$natively" "$times"
	done < <(calls_of_its_own)
	[ "$count" -ge 20 ]
	judge "own_calls: the program makes the library call much" $? "only $count different calls"
}

# fail_for_leaks BACKEND NAME NATIVELY GUARDED: whichever of the first calls of NAME fails, what was taken for what could
# not be done then is given back. A program that ends early has had a call of its own fail.
fail_for_leaks() {
	local backend=$1 name=$2 natively=$3 times=$4 nth tried=0 kept
	for ((nth = 1; nth <= times && nth <= most_tries && tried < 3; nth++)); do
		with_fault "backend=$backend" "$name:$nth" "$edges/rounds" use
		[ "$status" -ne 3 ] || [ "$natively" -eq 0 ] || continue
		tried=$((tried + 1))
		kept=$(kept_too_much "$name")
		[ "$status" -eq 0 ] && [ -z "$kept" ] && continue
		fail "leaks: backend=$backend: $name:$nth" "exit status $status, at its end there are $kept" "$err"
		return
	done
	pass "leaks: backend=$backend: $name"
}

# Calls that take something, or that are made with something in hand; what only asks is in own_calls.
check_leaks() {
	local backend name natively times some='^cu(Mem|Stream|Event|Launch|Module)'
	alone env "SIM_TRACE=$work/native.trace" "SIM_LEDGER=$work/native.ledger" "$edges/rounds" use
	for backend in device unified managed; do
		rm -f "$work/guarded.trace"
		guarded "backend=$backend" env "SIM_TRACE=$work/guarded.trace" "$edges/rounds" use
		while read -r name natively times; do
			gives_back "$name" || fail_for_leaks "$backend" "$name" "$natively" "$times"
		done < <(calls_of_its_own | grep -E "$some" | grep -v '^cuMemGetAllocationGranularity')
		some='^cuMem'
	done
}

# Memory that could not be moved to the device is not in the driver's accounts, and is not free all the same.
check_unplaced_memory() {
	alone "$program"
	native_out=$out
	guarded verbosity=1 env 'SIM_FAIL=cuMemPrefetchAsync:*' "$program"
	same "unplaced_memory: the program sees what it sees alone" "$native_out" "$out"
	guarded verbosity=1 env 'SIM_FAIL=cuMemPrefetchAsync:*' SIM_MEMORY=402653184 "$edges/fill_device" 1048576
	says "unplaced_memory: the device is full in the end" '[0-9]+ pieces, then CUDA_ERROR_OUT_OF_MEMORY' "$out"
	says "unplaced_memory: and says so" ' [01] MiB free' "$out"
	[ "${out%% *}" -le 768 ]
	judge "unplaced_memory: and has not grown without end" $? "$out of 1 MiB of 384 MiB"
}

# The program's own free is the first one: at rest the library frees none to wait.
check_failed_free() {
	local backend
	alone env SIM_FAIL=cuMemFree_v2:1 "$edges/free_again"
	native_out=$out
	says "failed_free: alone it fails once" 'first time: CUDA_ERROR_UNKNOWN' "$out"
	for backend in device managed; do
		guarded "verbosity=1:backend=$backend" env SIM_FAIL=cuMemFree_v2:1 "$edges/free_again"
		same "failed_free: backend=$backend: it fails as alone" "$native_out" "$out"
		same "failed_free: backend=$backend: nothing is reported" 0 "$(final_reports "$err")"
		guarded "verbosity=1:backend=$backend" env SIM_FAIL=cuMemFree_v2:1 "$edges/free_again" overflow
		same "failed_free: backend=$backend: the buffer is still watched" \
			'SUMMARY: GMOD: heap-buffer-overflow device 0 size 4096 offset +1' \
			"$(sed -n 's/^\(SUMMARY: .*\) make_buffer .*/\1/p' <<<"$err")"
	done
	# A large one has another call to fail: what a broken context answers is the program's to know.
	guarded backend=unified env SIM_FAIL=cuMemHostUnregister:1:700 "$edges/free_again" large
	same "failed_free: backend=unified: in a broken context, too" 'the first time: CUDA_ERROR_ILLEGAL_ADDRESS' "$out"
}

# A device that is full is full under GMOD too, and not sooner; for small buffers it may be later, where native ones make
# the driver move managed ones to the host. Tiny ones, of which a guarded one takes several times as much, are in there too.
check_full_device() {
	local size memory natively pieces
	for size in 2097152 4194304 6291456 1048576 512; do
		memory=SIM_MEMORY=$((size == 512 ? 201326592 : 402653184))
		alone env "$memory" "$edges/fill_device" "$size"
		natively=${out%% *}
		says "full_device: pieces of $size natively" '[0-9]+ pieces, then CUDA_ERROR_OUT_OF_MEMORY' "$out"
		guarded verbosity=1 env "$memory" "$edges/fill_device" "$size"
		pieces=${out%% *}
		says "full_device: pieces of $size are refused in the end" ', then CUDA_ERROR_OUT_OF_MEMORY' "$out"
		# Less what redzone_mb allows, a 400th, and a tiny buffer.
		[ "$pieces" -ge $((natively - natively / 400 - 1024)) ] && [ "$pieces" -le "$natively" ]
		judge "full_device: hardly fewer pieces of $size than natively" $? "$pieces instead of $natively"
	done
}

# Copies that take long, as on a device that other processes use as well, are late and nothing is lost. What never came
# by the end of the process is missed, and counted.
check_slow_gather() {
	guarded verbosity=1 env 'SIM_FAIL=cuEventQuery:*:600' "$edges/slow_gather" 400
	same "slow_gather: found at the free" 1 "$(final_reports "$err")"
	says "slow_gather: nothing is degraded" ' 0 degraded' "$err"
	guarded verbosity=1 env 'SIM_FAIL=cuEventQuery:*:600' "$edges/slow_gather" 400 left
	same "slow_gather: not found" 0 "$(final_reports "$err")"
	[ "$(closing degraded "$err")" -gt 0 ]
	judge "slow_gather: that is counted" $? "$err"
	guarded verbosity=1:max_cpu=100 env 'SIM_FAIL=cuEventQuery:1-400:600' \
		"$edges/slow_gather" 4000 left
	same "slow_gather: found when the copies have come" 1 "$(final_reports "${err%leaving*}")"
	says "slow_gather: late is not degraded" ' 0 degraded' "$err"
	guarded verbosity=1:scan_interval_us=60000000 env 'SIM_STALL=cuMemcpyBatchAsync_v2:*:1500' "$edges/slow_gather" 0 left 60
	same "slow_gather: found by a last look that takes long, but goes on" 1 "$(final_reports "$err")"
	says "slow_gather: which is not cut short" ' 0 degraded' "$err"
}

# What a last look reads comes much later than it should: nothing is said before it is there.
check_slow_look() {
	guarded verbosity=1 env SIM_STALL=copy:\*:1 "$programs/figure_alloc_free" 1000 100
	same "slow_look: the program runs" 0 "$status"
	says "slow_look: nothing is found" '; 0 findings; 0 degraded' "$err"
	guarded verbosity=1 env SIM_STALL=copy:\*:1 SIM_FAIL=cuStreamSynchronize:\* "$programs/figure_alloc_free" 1000 100
	same "slow_look: that never comes: the program runs" 0 "$status"
	says "slow_look: that never comes: it is counted" '; 0 findings; [1-9][0-9]* degraded' "$err"
}

# Canaries that come after the program has its buffer are counted, and no failure.
check_late_canaries() {
	guarded verbosity=1 env SIM_STALL=copy:1:3000 "$programs/good_allocated_while_held_up"
	same "late_canaries: the program runs" '0 done' "$status $out"
	says "late_canaries: they are counted" 'GMOD: guarded .*; the canaries of [1-9][0-9]* buffers? came late' "$err"
	says "late_canaries: nothing is degraded" ' 0 degraded' "$err"
	# A buffer that is kept back has new canaries.
	guarded verbosity=1:quarantine_mb=64 env SIM_STALL=copy:1:3000 "$programs/good_allocated_while_held_up"
	at_most "late_canaries: none counts twice" "$(sed -n 's/.*guarded \([0-9]*\) of.*/\1/p' <<<"$err")" "$(closing 'buffers? came late' "$err")"
}

# A driver that cannot copy several pieces in one call, or not as CUDA 13 has it, copies them one by one.
check_copies_one_by_one() {
	local refused report
	for refused in cuMemcpyBatchAsync_v2:1 cuMemcpyBatchAsync_v2:\*; do
		guarded verbosity=2:log_path=report.log env "SIM_FAIL=$refused" "$programs/bad_slack_of_many"
		report=$(cat "$work/guarded/report.log")
		same "copies_one_by_one: $refused: found by the gather" "0 3" "$status $(final_reports "$report")"
		says_not "copies_one_by_one: $refused: nothing is degraded" 'degraded: ' "$report"
		rm "$work/guarded/report.log"
	done
}

# Where the driver registers no memory of ours the gather uses the driver's.
check_nothing_registered() {
	local report
	guarded verbosity=2:log_path=report.log env "SIM_FAIL=cuMemHostRegister_v2:*:801" "$programs/bad_slack_of_many"
	report=$(cat "$work/guarded/report.log")
	same "nothing_registered: found by the gather" "0 3" "$status $(final_reports "$report")"
	says_not "nothing_registered: nothing is degraded" 'degraded: ' "$report"
}

# A graph's node that the driver does not tell of may have any kernel: here the last one, which did it.
check_unasked_node() {
	guarded verbosity=1 env SIM_FAIL=cuGraphKernelNodeGetParams_v2:1200 "$programs/bad_graph_long"
	says "unasked_node: it is a suspect" '(^|; )k_fill x1 .*; unknown x1 |unknown x1 .*; k_fill x1 ' "$(suspects "$err")"
	[[ $err != *'memcheck --kernel-name'* ]]
	judge "unasked_node: the next step is for all kernels" $? "$err"
}

# Where the driver does not tell what parameters there are, none is read, and the program does not notice.
check_unasked_parameters() {
	local refused
	for refused in cuFuncGetParamInfo:1 cuFuncGetParamInfo:\*; do
		guarded verbosity=1 env "SIM_FAIL=$refused:304" "$programs/bad_argument_of_many"
		ended "unasked_parameters: $refused: one report" 0 1
		says "unasked_parameters: $refused: it says so" '^ +1\. k_flip_[0-9]+ x1 .*: its arguments are not known$' "$err"
		says "unasked_parameters: $refused: it is counted" ' [1-9][0-9]* degraded' "$err"
	done
}

# pieces_of TEXT: how many fill_device says there were.
pieces_of() {
	local text=${1#*missing, }
	echo "${text%% pieces*}"
}

# The errors that nothing comes after but a new process, also those that come of the hardware and of others that share it.
check_given_up() {
	local code
	for code in 214:ECC_UNCORRECTABLE 226:CONTAINED 700:ILLEGAL_ADDRESS 702:LAUNCH_TIMEOUT 710:ASSERT \
		714:HARDWARE_STACK_ERROR 715:ILLEGAL_INSTRUCTION 716:MISALIGNED_ADDRESS 717:INVALID_ADDRESS_SPACE 718:INVALID_PC \
		719:LAUNCH_FAILED 721:TENSOR_MEMORY_LEAK 810:MPS_CLIENT_TERMINATED; do
		guarded '' env "SIM_FAIL=cuCtxSynchronize:1:${code%:*},cuStreamQuery:*:${code%:*}" "$programs/bad_then_return"
		says "given_up: ${code#*:}" "^SUMMARY: GMOD: post-mortem CUDA_ERROR_${code#*:}" "$err"
	done
}

# The heap for what kernels allocate: without the memory for it they have CUDA's own, with less than wished for they have less.
check_device_heap() {
	local call program=$programs/good_inkernel_pairs
	alone "$program"
	native="$status $out"
	for call in cuStreamCreateWithPriority:2 cuMemAlloc_v2:3-99 cuMemHostAlloc:1; do
		guarded verbosity=1 env "SIM_FAIL=$call:2" "$program"
		same "$call: as alone" "$native" "$status $out"
		says "$call: it is said" 'no memory for a device heap' "$err"
	done
	# Modules that come later do not get one: pointers go from each to the next.
	program=$programs/good_inkernel_many_modules
	alone "$program"
	native="$status $out"
	guarded verbosity=1 env SIM_FAIL=cuMemHostAlloc:1:2 "$program"
	same "none for all: as alone" "$native" "$status $out"
	same "none for all: nothing is reported" 0 "$(final_reports "$err")"
	same "none for all: it is said once" 1 "$(grep -c 'no memory for a device heap' <<<"$err")"
	guarded '' env 'SIM_FAIL=cuEventRecord:*' "$programs/good_inkernel_api"
	says "a guard pass that cannot be waited for: the check says so" 'held it up for 2 s.*; expected: all is well' "$err"
	# Room for the chunks or for what is to be known of them, and not for both.
	program=$programs/good_inkernel_pairs
	for call in 3 4; do
		as_alone "no memory for one part, call $call" verbosity=1 env "SIM_FAIL=cuMemAlloc_v2:$call:2" "$program"
		says "no memory for one part, call $call: there is half a heap" 'a device heap has 128 MiB, not 256: ' "$err"
	done
	as_alone "less memory" device_heap_mb=200 env SIM_MEMORY=$((150 << 20)) "$programs/good_inkernel_exhausted"
	says "less memory: it is said" 'a device heap has 100 MiB, not 200: ' "$err"
	as_alone "an odd limit" device_heap_mb=100 "$programs/good_inkernel_room_of_the_limit"
	says_not "an odd limit: nothing is said" 'no more memory' "$err"
}

run_checks "$@"
