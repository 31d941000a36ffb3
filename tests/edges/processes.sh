#!/usr/bin/env bash
# How processes begin, multiply and end, as far as tests/programs does not show it already: none hangs, crashes, or loses
# a finding that was made.
#
#   processes.sh [NAME...]
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# The library is inert in a forked child: what the child asks, the driver answers as natively, and no child reports.
check_fork_child() {
	local native
	alone "$edges/fork_child"
	native="$status $out"
	says "fork_child: alone the driver refuses the child" 'child: free: CUDA_ERROR' "$out"
	guarded verbosity=1 "$edges/fork_child"
	same "fork_child: it is answered as alone" "$native" "$status $out"
	same "fork_child: nothing is reported" 0 "$(final_reports "$err")"
	same "fork_child: one process sums up" 1 "$(grep -c 'GMOD: guarded' <<<"$err")"
	guarded verbosity=1 "$edges/fork_child" overrun
	same "fork_child: what the parent did is reported once" 1 "$(final_reports "$err")"
}

# repeat NAME TIMES STATUS REPORTS COMMAND...: many times over, as it depends on who comes first.
repeat() {
	local name=$1 times=$2 want="$3 $4" run
	shift 4
	for ((run = 1; run <= times; run++)); do
		guarded verbosity=1 "$@"
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
	repeat exit_when_seen 30 7 1 "$edges/exit_when_seen"
	repeat "exit_when_seen, 1 ms later" 15 7 1 "$edges/exit_when_seen" 1
	repeat "exit_when_seen, _exit" 15 7 1 "$edges/exit_when_seen" 0 now
}

check_exits_race() {
	repeat exits_race 20 8 1 "$edges/exits_race"
}

# Addresses that go from thread to thread.
check_reuse() {
	alone "$edges/reuse"
	native="$status $out"
	guarded "verbosity=1:max_reports=1" "$edges/reuse"
	same "reuse: as alone" "$native" "$status $out"
	says_not "reuse: nothing but the fills that are too long" \
		'GMOD: (heap|double|invalid|leak)' "$(grep -v 'cuMemsetD8' <<<"$err")"
	same "reuse: nothing failed" 0 "$(closing degraded "$err")"
}

# No canary is read while its page may go, and no page goes while its canary is read.
check_pin() {
	guarded '' "$edges/pin"
	same "pin: the program runs" '0 done' "$status $out"
	says "pin: the monitor was caught reading" 'the monitor is reading: yes' "$err"
	says "pin: a free waits for it" 'freed meanwhile: no' "$err"
	says "pin: what is being freed is not read" 'read while being freed: no' "$err"
}

# Per-thread default streams stay apart.
check_per_thread() {
	alone "$edges/per_thread"
	native="$status $out"
	same "per_thread: alone" '0 2, held up: no' "$native"
	guarded verbosity=1 "$edges/per_thread"
	same "per_thread: as alone" "$native" "$status $out"
}

check_small_stack() {
	alone "$edges/small_stack"
	same "small_stack: alone" '0 done' "$status $out"
	repeat small_stack 1 0 1 "$edges/small_stack"
}

# Its own files stay its own, and the log is found again.
check_all_closed() {
	guarded log_path=reports.log "$edges/all_closed"
	same "all_closed: nothing goes into its files" '0 0 bytes of data' "$status $out"
	same "all_closed: both reports are in the log" 2 "$(final_reports "$(cat "$work/guarded/reports.log")")"
}

# A thread that is cancelled ends what it began: no finding goes with it, and no exit waits for it.
check_cancelled() {
	local where overruns leaving
	for where in '' anywhere; do
		# Without stacks there are no sites, and no report is one too many.
		guarded verbosity=1:stack_depth=0:max_reports=1000 "$edges/cancelled" ${where:+"$where"}
		leaving=$(($(date +%s%3N) - $(sed -n 's/^leaving at //p' <<<"$out" | grep . || echo 0)))
		overruns=$(sed -n 's/ overruns$//p' <<<"$out")
		same "cancelled ${where:-in the driver}: every overrun is reported" "0 ${overruns:-some}" \
			"$status $(final_reports "$err")"
		[ "$leaving" -lt 1000 ]
		judge "cancelled ${where:-in the driver}: the end waits for nobody" $? "it took $leaving ms"
	done
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

run_checks "$@"
