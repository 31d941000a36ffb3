#!/usr/bin/env bash
# How processes begin, multiply and end, as far as tests/programs does not show it already: none hangs, crashes, or loses
# a finding that was made.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# The library is inert in a forked child: what the child asks, the driver answers as natively, and no child reports.
check_fork_child() {
	fork_child fork_child
}

# fork_child NAME COMMAND...: with COMMAND in front.
fork_child() {
	local name=$1
	shift
	as_alone "$name" verbosity=1 "$@" "$edges/fork_child"
	says "$name: alone the driver refuses the child" 'child: free: CUDA_ERROR' "$native"
	same "$name: nothing is reported" 0 "$(final_reports "$err")"
	same "$name: one process sums up" 1 "$(grep -c 'GMOD: guarded' <<<"$err")"
	guarded verbosity=1 "$@" "$edges/fork_child" overrun
	same "$name: what the parent did is reported once" 1 "$(final_reports "$err")"
}

# A child has the loader's lock as it was when it was forked.
check_fork_beside_lookups() {
	as_alone "forked beside a look-up" '' "$edges/fork_beside_lookups"
	same "forked beside a look-up: no child hangs" "0 hung" "$out"
}

# Where the kernel does not wipe the child's page, fork() does.
check_old_kernel() {
	local name
	alone "$edges/old_kernel" /bin/true
	[ "$status" -eq 0 ] || {
		skip old_kernel "no seccomp filters here"
		return
	}
	fork_child old_kernel "$edges/old_kernel"
	for name in good_fork good_fork_many good_fork_then_cuda_in_child good_daemon good_vfork_exec good_vfork_exit \
		good_posix_spawn good_inkernel_fork; do
		as_alone "old_kernel, $name" verbosity=1 "$edges/old_kernel" "$programs/$name"
		says "old_kernel, $name: it is guarded" 'GMOD: guarded [1-9]' "$err"
	done
}

# repeat NAME TIMES STATUS REPORTS COMMAND...: many times over, as it depends on who comes first. $guarding: options.
repeat() {
	local name=$1 times=$2 want="$3 $4" run
	shift 4
	for ((run = 1; run <= times; run++)); do
		guarded "verbosity=1:${guarding:-}" "$@"
		[ "$status $(final_reports "$err")" = "$want" ] && continue
		fail "$name: run $run: exit status $status with $(final_reports "$err") final reports instead of $want" "$out" "$err"
		return
	done
	pass "$name: $times times"
}

check_exit_while_busy() {
	repeat exit_while_busy 15 0 1 "$edges/exit_while_busy"
}

check_exit_when_seen() {
	repeat exit_when_seen 30 7 1 "$edges/exit_when_seen" 0 exit
	repeat "exit_when_seen, 1 ms later" 15 7 1 "$edges/exit_when_seen" 1 exit
	repeat "exit_when_seen, _exit" 15 7 1 "$edges/exit_when_seen" 0 _exit
	# Nobody else looks at what lies on the device.
	guarding=scan_interval_us=60000000 repeat "exit_when_seen, by a free" 15 7 1 "$edges/exit_when_seen" 0 exit free
	guarding=scan_interval_us=60000000 repeat "exit_when_seen, by a free, _exit" 15 7 1 "$edges/exit_when_seen" 0 _exit free
}

# What GMOD takes of a caller's stack is little, because threads may have 16 KiB: for healthy calls, for those that find
# something, and for the first one, which has something to say at verbosity=2.
check_stack_use() {
	local most=4096 name natively taken alone_out
	alone "$edges/stack_use"
	alone_out=$out
	guarded verbosity=0 "$edges/stack_use"
	while read -r name natively taken; do
		[ "$name" != wrong ] || most=8192
		[ "$taken" -le $((natively + most)) ]
		judge "stack_use: $name" $? "$taken bytes instead of $natively"
	done < <(paste -d ' ' <(echo "$alone_out") <(cut -d ' ' -f 2 <<<"$out"))
	guarded verbosity=2 "$edges/stack_use"
	[ "$(awk '/alloc_small/ { print $2; exit }' <<<"$out")" -le $(($(awk '/alloc_small/ { print $2; exit }' <<<"$alone_out") + 8192)) ]
	judge "stack_use: alloc_small, with words" $? "$out"
	alone "$edges/stack_use" end
	alone_out=$out
	guarded verbosity=0 "$edges/stack_use" end
	[ "$out" -le $((alone_out + 1024)) ]
	judge "stack_use: a signal that ends the process" $? "$out bytes instead of $alone_out"
}

check_exits_race() {
	repeat exits_race 20 8 1 "$edges/exits_race"
}

# left_from NAME OPTIONS COMMAND...: it ended by its handler, and what it had done before is reported once.
left_from() {
	local name=$1 options=$2
	shift 2
	guarded "verbosity=1:$options" "$@"
	same "$name: exit status, reports, closing lines" '9 1 1' \
		"$status $(final_reports "$err") $(grep -c 'GMOD: guarded' <<<"$err")"
}

# A handler that calls _exit() may have interrupted anything: a call that holds the driver's lock, or one of ours.
check_exit_in_handler() {
	local call n limit=10
	for call in cuMemAllocManaged:3 cuMemAdvise:14 cuMemPrefetchAsync:3 cuLaunchKernel:2 cuMemAlloc_v2:1 cuMemFree_v2:1 \
		cuMemFree_v2:2 cuCtxSynchronize:2 cuMemGetInfo_v2:4 cuStreamQuery:1; do
		left_from "exit_in_handler: in $call" backend=managed env "SIM_SIGNAL=$call" "$edges/exit_in_handler" call
		says_not "exit_in_handler: in $call: at once" 'last look' "$err"
	done
	# The driver is needed for what lies on the device, and does not answer.
	for call in cuMemAlloc_v2:4 cuMemcpy2DAsync_v2:4 cuMemFree_v2:2; do
		left_from "exit_in_handler: in $call, waiting for the driver" "" env "SIM_SIGNAL=$call" \
			"$edges/exit_in_handler" call small
		same "exit_in_handler: in $call: that is said once" 1 "$(grep -c 'last look' <<<"$err")"
	done
	for ((n = 1; n <= 50; n++)); do
		guarded verbosity=1 "$edges/exit_in_handler" check "$n"
		[ "$status" -ne 0 ] || break
		ended "exit_in_handler: in gmod_check(), $n" 9 1
	done
	[ "$n" -gt 1 ] && [ "$n" -le 50 ]
	judge "exit_in_handler: gmod_check() was interrupted" $? "$n: status $status" "$err"
}

check_exit_storm() {
	local n cut=0
	for ((n = 1; n <= 12; n++)); do
		guarded verbosity=1 "$edges/exit_in_handler" storm $((n * 2477 % 20000 + 100))
		[ "$status $(final_reports "$err")" = '9 1' ] && continue
		# The signal came inside the driver, which answers nobody until its call is over, and that is never.
		[ "$status" = 9 ] && grep -q 'the driver has not answered' <<<"$err" && [ $((cut += 1)) -le 2 ] && continue
		fail "exit_storm: run $n" "exit status $status" "$err"
		return
	done
	pass "exit_storm: $((n - 1)) times"
	repeat "exits in a hail of signals" 10 9 1 "$edges/exit_in_handler" again 100
}

check_no_monitor() {
	guarded verbosity=1 "$edges/no_monitor" return
	ended "no_monitor: a normal exit looks at everything" 6 2
	guarded backend=managed:verbosity=1 "$edges/no_monitor" _exit
	ended "no_monitor: _exit() looks at what the CPU sees" 6 1
	[ "$(closing degraded "$err")" -gt 0 ]
	judge "no_monitor: that is counted" $? "$err"
	same "no_monitor: and said" 1 "$(grep -c 'nobody watches' <<<"$err")"
	guarded verbosity=0:log_path=report.log "$edges/no_monitor" later
	same "no_monitor: there is one at a later buffer" '6 1' \
		"$status $(grep -c 'nobody watches' "$work/guarded/report.log")"
	guarded verbosity=0:log_path=report.log "$edges/no_monitor" larger
	same "no_monitor: there is one with a larger stack" '6 0' \
		"$status $(grep -c 'nobody watches' "$work/guarded/report.log")"
}

check_quick_exit() {
	guarded verbosity=1 "$edges/quick_exit"
	same "quick_exit: status, reports, closing lines" "12 1 1" \
		"$status $(final_reports "$err") $(grep -c 'GMOD: guarded' <<<"$err")"
	says "quick_exit: the program's own handler runs first" '^my handler' "$(sed -n 2p <<<"$err")"
	guarded exit_on_findings=1:exitcode=77 "$edges/quick_exit"
	same "quick_exit: exit_on_findings" 77 "$status"
}

# A call of the monitor's that does not return holds no program up for ever; when it does return it finds all in order.
check_stuck_in_context() {
	guarded backend=unified:verbosity=1 env SIM_STALL=cuMemcpyBatchAsync_v2:1:12000 "$edges/stuck_in_context"
	ended "stuck_in_context: it ends, and what was done is reported" 0 1
	says "stuck_in_context: the context is destroyed first" 'destroyed after [5-9] s' "$err"
	same "stuck_in_context: that is said" 1 "$(grep -c 'has not returned for 5 s' <<<"$err")"
	says_not "stuck_in_context: all is in order in the end" 'last look' "$err"
}

# A context that goes by the last cuCtxDetach() takes its buffers with it; one that stays keeps them.
check_detach() {
	as_alone detach verbosity=1 "$edges/detach"
	same "detach: each overrun is reported once" 4 "$(grep -c '^SUMMARY: GMOD: heap-buffer-overflow' <<<"$err")"
	says "detach: nothing is degraded" ' 0 degraded' "$err"
	as_alone "detach: a primary context stays" verbosity=1 "$edges/detach" primary
	same "detach: and the overrun is reported" 1 "$(grep -c '^SUMMARY: GMOD: heap-buffer-overflow' <<<"$err")"
}

check_green() {
	alone "$edges/green"
	same "green: alone" "0 done" "$status $out"
	guarded verbosity=1 "$edges/green"
	same "green: as alone" "0 done" "$status $out"
	same "green: each overrun is reported once" 3 "$(grep -c '^SUMMARY: GMOD: heap-buffer-overflow' <<<"$err")"
	says "green: what is allocated in one is native" '9 allocations of .* not covered \(18\.8 KiB\)' "$err"
	says "green: nothing is degraded" ' 0 degraded' "$err"
}

# A context goes while another thread frees a buffer of it.
check_freed_beside() {
	guarded verbosity=1 env SIM_STALL=cuMemFree_v2:3:500 "$edges/freed_beside"
	same "freed_beside: as alone" "0 done" "$status $out"
	same "freed_beside: nothing is reported" 0 "$(final_reports "$err")"
}

# A context that may be about to go, and stays: nobody notices.
check_kept() {
	guarded verbosity=1 env SIM_STALL=cuCtxDetach:1:400 "$edges/kept"
	same "kept: as alone" "0 done" "$status $out"
	says_not "kept: nothing but what is wrong is reported" 'double-free|heap-' "$err"
	guarded verbosity=1:max_reports=1 "$edges/kept" 1000
	same "kept, over and over: as alone" "0 done" "$status $out"
	says_not "kept, over and over: nothing but what is wrong is reported" 'double-free|heap-' "$err"
	guarded verbosity=1:max_reports=1 "$edges/kept" 1000 4
	same "kept, by several threads: as alone" "0 done" "$status $out"
	says_not "kept, by several threads: nothing but what is wrong is reported" 'double-free|heap-' "$err"
}

# A context that ends while another thread is busy in it: nothing of it is looked at afterwards, and what is free is known.
check_context_ends() {
	local what options stall
	while read -r what options stall; do
		guarded "verbosity=1:$options" env "SIM_STALL=$stall" SIM_SEAL=1 "$edges/context_ends" "$what"
		same "context_ends, $what: as alone" "0 much free" "$status $out"
		says "context_ends, $what: nothing is reported" ' 0 findings' "$err"
	done <<-'END'
		release backend=device cuDevicePrimaryCtxRelease_v2:1:300
		retain backend=device cuDevicePrimaryCtxGetState:1:300
		release backend=unified cuDevicePrimaryCtxRelease_v2:1:300
		retain backend=unified cuDevicePrimaryCtxGetState:1:300
		allocate backend=unified cuMemAddressReserve:6:300
		free backend=device cuMemFree_v2:1:300
		free backend=managed cuMemFree_v2:1:300
	END
}

# Addresses that go from thread to thread.
check_reuse() {
	as_alone reuse verbosity=2:max_reports=1 "$edges/reuse"
	says_not "reuse: nothing but the fills that are too long" \
		'GMOD: (heap|double|invalid|leak)' "$(grep -v 'cuMemsetD8' <<<"$err")"
	says_not "reuse: nothing failed" 'degraded: ' "$err"
}

# No canary is read while its page may go, and no page goes while its canary is read.
check_pin() {
	# The monitor is made to wait in a handler, which must not be charged to it.
	guarded backend=managed:max_cpu=100 "$edges/pin"
	same "pin: the program runs" '0 done' "$status $out"
	says "pin: the monitor was caught reading" 'the monitor is reading: yes' "$err"
	says "pin: a free waits for it" 'freed meanwhile: no' "$err"
	says "pin: what is being freed is not read" 'read while being freed: no' "$err"
}

# Per-thread default streams stay apart.
check_per_thread() {
	as_alone per_thread verbosity=1 "$edges/per_thread"
	same "per_thread: alone" '0 2, held up: no' "$native"
}

check_small_stack() {
	alone "$edges/small_stack"
	same "small_stack: alone" '0 done' "$status $out"
	repeat small_stack 1 0 1 "$edges/small_stack"
}

# A coroutine's callers are told up to where it was begun; what lies beyond is not looked at.
check_greenlets() {
	alone "$edges/greenlets" "$edges/plugin_greenlet.so"
	same "greenlets: alone" '0 done' "$status $out"
	repeat greenlets 1 0 1 "$edges/greenlets" "$edges/plugin_greenlet.so"
	says "greenlets: who allocated" '#0 make_buffer ' "$err"
}

check_coroutines() {
	local returns_to
	# Nothing, no address of this machine, and data (the stack itself).
	for returns_to in 0x10 0x5a5a5a5a5a5a5a5a 0; do
		repeat "coroutine, $returns_to" 1 0 1 "$edges/coroutine" "$returns_to"
		says "coroutine, $returns_to: who allocated" '#0 make_buffer ' "$err"
	done
}

check_freed_past() {
	as_alone freed_past verbosity=1 "$edges/freed_past" "$edges/plugin_free.so"
	same "freed_past: no report" 0 "$(final_reports "$err")"
	says "freed_past: it is said" '1 degraded' "$err"
}

# What traps system calls goes on by its handler in the library's threads too.
check_sandbox() {
	guarded verbosity=1 "$edges/sandbox"
	ended "sandbox: the program ends as it wants to, and the overrun is reported" 5 1
	same "sandbox: the monitor was trapped" 'opened: yes' "$out"
	guarded verbosity=1 "$edges/sandbox" TERM
	ended "sandbox: it ends by a signal" 143 1
}

# Its own files stay its own, and the log is found again.
check_all_closed() {
	local try logged
	guarded log_path=report.log "$edges/all_closed" whole
	same "all_closed: nothing goes into its files" '0 0 bytes of data' "$status $out"
	same "all_closed: both reports are in the log" 2 "$(final_reports "$(cat "$work/guarded/report.log")")"
	# The program may close the new descriptor, too, in the moment before it is out of the way: on standard error then.
	for try in 1 2 3; do
		guarded "log_path=slow.$try.log" env "LD_PRELOAD=$gmod $edges/plugin_slow_lock.so" "$edges/all_closed"
		logged=$(final_reports "$(cat "$work/guarded/slow.$try.log")")
		same "all_closed: none is lost where one is just being written" 2 "$((logged + $(final_reports "$err")))"
		[ "$logged" != 2 ] || break
	done
	same "all_closed: both are in the log then, too" 2 "$logged"
}

# A thread that is cancelled ends what it began: no finding goes with it, and no exit waits for it.
check_cancelled() {
	local overruns leaving
	# Without stacks there are no sites, and no report is one too many.
	guarded verbosity=1:stack_depth=0:max_reports=1000 "$edges/cancelled"
	leaving=$(($(date +%s%3N) - $(sed -n 's/^leaving at //p' <<<"$out" | grep . || echo 0)))
	overruns=$(sed -n 's/ overruns$//p' <<<"$out")
	same "cancelled: every overrun is reported" "0 ${overruns:-some}" "$status $(final_reports "$err")"
	[ "$leaving" -lt 1000 ]
	judge "cancelled: the end waits for nobody" $? "it took $leaving ms"
}

# Ended from outside, by a signal that nobody handles: what was found is out, and the status is the signal's.
check_terminated() {
	local signal
	for signal in TERM INT HUP; do
		guarded verbosity=1 bash -c "trap - $signal; exec '$edges/terminated' $signal"
		same "terminated by SIG$signal: its status, and the report" "$((128 + $(kill -l "$signal"))) 1" \
			"$status $(final_reports "$err")"
	done
}

# What ends the process, or replaces it, as soon as the damage is done: found each time, and the status is native.
check_ends() {
	local how
	ulimit -S -c 0
	for how in execve execv execvp abort assert TERM INT HUP QUIT XCPU FPE ALRM USR1 USR2 VTALRM PROF IO PWR STKFLT SYS \
		XFSZ breakpoint crash deep bus trap chain small; do
		alone bash -c "trap - INT QUIT HUP; exec '$edges/ends' $how"
		native="$status $out"
		repeat "ends by $how" 5 "$status" 1 bash -c "trap - INT QUIT HUP; exec '$edges/ends' $how"
		same "ends by $how: as alone" "$native" "$status $out"
	done
	as_alone "ends, by a handler that the kernel takes away" "" "$edges/ends" once
	repeat "ends, an exec that fails" 1 4 2 "$edges/ends" returns
	repeat "ends, signals that are ignored by default" 1 4 2 "$edges/ends" ignored
	same "ends, signals that are ignored by default: the closing line comes behind" 2 "$(closing findings "$err")"
	repeat "ends, an exec in a vfork child" 1 4 2 "$edges/ends" vfork
	guarded signals=0 "$edges/ends" TERM
	ended "ends, signals=0: at once" 143 0
	guarded verbosity=1 env SIM_STALL=cuMemcpyBatchAsync_v2:1:4000 "$edges/ends" TERM
	same "ends: a driver that does not answer holds nothing up for long" 143 "$status"
}

check_interrupted() {
	local python
	python=$(command -v python3) || {
		skip interrupted "no python3"
		return
	}
	as_alone interrupted verbosity=1 "$python" -B "$top/tests/edges/interrupted.py"
	same "interrupted: alone" '143 interrupted' "$(head -n 1 <<<"$native")"
	ulimit -S -c 0
	as_alone "interrupted, a crash" verbosity=1 "$python" -B "$top/tests/edges/interrupted.py" crash
	says "interrupted, a crash: Python says where" 'Segmentation fault' "$err"
}

# A debugger sees what it would see without us.
check_core_of_a_crash() {
	local core
	command -v gdb >/dev/null || {
		skip core_of_a_crash "no gdb"
		return
	}
	ulimit -S -c 1048576 2>/dev/null
	guarded verbosity=1 env SIM_MEMORY=268435456 "$edges/ends" crash
	ulimit -S -c 0
	core=$(find "$work/guarded" -name 'core*' -type f | head -n 1)
	if [ ! -s "$core" ]; then
		skip core_of_a_crash "the kernel writes no core file here"
		return
	fi
	same "core_of_a_crash: the report" 1 "$(final_reports "$err")"
	# shellcheck disable=SC2016 # this is gdb's value
	alone gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'frame 0' -ex 'p $_siginfo.si_code' "$edges/ends" "$core"
	says "core_of_a_crash: the top frame" '^#0 .*crash_here' "$out"
	says "core_of_a_crash: why" '= 1$' "$out"
	rm "$core"
}

run_checks "$@"
