#!/usr/bin/env bash
# What must hold for days: nothing that comes and goes leaves anything behind, what was planted is found, and nothing else
# is. `make soak` takes half an hour for it.
#
#   soak.sh [NAME...]      NAME: a check, as in check_NAME
#
# Environment: SOAK_SECONDS (default: 10), SOAK_SEED (to have the same threads do the same again; else it is made up, and
# said), and what edgelib reads.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

seconds=${SOAK_SECONDS:-10}
seed=${SOAK_SEED:-$RANDOM}
limit=$((seconds + 300))

# Stacks that the C library keeps for the next thread, and heaps for each of them, would hide what grows.
export GLIBC_TUNABLES=glibc.pthread.stack_cache_size=0:glibc.malloc.arena_max=2

# soak MODE OPTIONS STDERR: edges/soak.c in $work/MODE; its exit status in $work/MODE.status.
soak() {
	launch "$work/$1" env "LD_PRELOAD=$gmod" "GMOD_OPTIONS=verbosity=1:stack_depth=32:max_reports=1000000:$2" \
		bash -c "exec '$edges/soak' '$seconds' '$seed' '$1' 2>'$3'"
	echo "$status" >"$work/$1.status"
}

# stall PID: for most of the time, who reads the log does so only now and then.
stall() {
	local end=$((SECONDS + seconds * 3 / 4))
	while [ "$SECONDS" -lt "$end" ]; do
		kill -STOP "$1"
		sleep $((RANDOM % (seconds / 5 < 20 ? seconds / 5 + 1 : 20)))
		kill -CONT "$1"
		sleep "0.$((RANDOM % 10))"
	done
}

# found MODE LOG...: what these say.
found() {
	local mode=$1 log missing status
	status=$(cat "$work/$mode.status")
	shift
	log=$(cat "$@")
	# A sanitizer's own memory grows.
	[ "$status" != 4 ] || [ "$gmod" = "${gmod% *}" ] || status=0
	same "soak: $mode, seed $seed: done, nothing has grown" 0 "$status"
	[ "$status" = 0 ] || tail -q -n 20 "$work/$mode.out" "$work/errors"
	missing=$(diff <(cut -d' ' -f1 "$work/$mode/planted" | sort) <(sed -n 's/^SUMMARY: GMOD: //p' <<<"$log" |
		sed -E 's/^heap-buffer-overflow device 0 size ([0-9]+) offset \+0 .*/\1/' | sort))
	judge "soak: $mode, seed $seed: what was planted is reported, once, and nothing else" $? "$missing"
	# On a machine as busy as this, canaries may be late, which counts as degraded.
	says_not "soak: $mode, seed $seed: no line is lost" 'lost|could not' "$log"
}

check_soak() {
	local reader
	echo "seed $seed"
	mkfifo "$work/pipe"
	cat "$work/pipe" >"$work/stalled.log" &
	reader=$!
	soak rotated log_path=report.log "$work/errors" &
	stall "$reader" &
	soak stalled '' "$work/pipe"
	wait
	found rotated "$work/rotated/report.log"*
	found stalled "$work/stalled.log"
}

# Threads that launched, and streams and events that they made and destroyed: when all are gone nothing of them is a
# suspect, and nobody wakes.
check_come_and_go() {
	local woken
	guarded log_path=report.log "$edges/come_and_go" $((seconds < 100 ? 3000 : 100000))
	same "come_and_go: done" 0 "$status"
	same "come_and_go: only the one that did it is a suspect" 'k_flip x1' \
		"$(suspects "$(cat "$work/guarded/report.log")" | grep -oE '[a-z_]+ x[0-9]+' | sort -u)"
	woken=${out#*woken }
	[ "${woken:-99}" -le 4 ]
	judge "come_and_go: the monitor sleeps" $? "woken $woken times in 2 s"
}

run_checks "$@"
