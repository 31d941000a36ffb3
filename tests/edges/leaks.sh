#!/usr/bin/env bash
# What GMOD takes of the driver and of the process it gives back: when a context ends, before an exec, and in long use.
# What it takes where a call fails is in faults.sh; run-programs looks at what each good program leaves.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

program=$edges/rounds
backends=(device unified managed)

# Stacks that the C library keeps for the next thread, and heaps for each of them, would hide what grows.
export GLIBC_TUNABLES=glibc.pthread.stack_cache_size=0:glibc.malloc.arena_max=2
# That of the thread that ended last may still be there: a small one, but for a sanitizer.
is_sanitized() {
	[ "$gmod" != "${gmod% *}" ]
}
is_sanitized || ulimit -S -s 256

# ledger COMMAND...: what the driver was left with; "no ledger" where it never came to its end.
ledger() {
	rm -f "$work/ledger"
	"$@"
	left=$(cat "$work/ledger" 2>/dev/null || echo "no ledger")
	# The patrol's library is the process's.
	[ "$1" = alone ] || left=$(sed '/^libraries 1$/d' <<<"$left")
}

# rounds OPTIONS ARGUMENT...: under GMOD; $left is what it left.
rounds() {
	local options=$1
	shift
	ledger guarded "verbosity=1:$options" env "SIM_LEDGER=$work/ledger" "$program" "$@"
}

# guarded_of TEXT: how many of how many, from the closing line.
guarded_of() {
	sed -nE 's/.*guarded ([0-9]+) of ([0-9]+) buffers?,.*/\1 of \2/p' <<<"$1"
}

# The ledger itself.
check_ledger() {
	ledger alone env "SIM_LEDGER=$work/ledger" "$program" keep
	same "ledger: one of each kind" "$(printf '%s 1\n' contexts in_order streams events modules libraries graphs device managed \
		host registered pool mapped physical reserved)" "$left"
	ledger alone env "SIM_LEDGER=$work/ledger" "$program" 3 10
	same "ledger: nothing, once the contexts have ended" "0 done " "$status $out $left"
}

# Contexts that are destroyed, released and reset, with buffers in them.
check_context_ends() {
	local backend
	for backend in "${backends[@]}"; do
		rounds "backend=$backend" 3 10
		same "context_ends: backend=$backend: nothing is left" "0 done " "$status $out $left"
	done
	# No more than 4096 are mapped at once.
	rounds backend=unified large 1500
	same "context_ends: nor of many that are mapped" "0 done " "$status $out $left"
	same "context_ends: which are all guarded" '4500 of 4500' "$(guarded_of "$err")"
}

# What the new program inherits is what it does natively.
check_exec() {
	local what look command
	while read -r what look; do
		command=(env -u LD_PRELOAD sh -c "$look")
		alone "$program" use "${command[@]}"
		native="$status $out"
		rm -f "$work/report.log"
		guarded "verbosity=2:log_path=$work/report.log" "$program" use "${command[@]}"
		same "exec: $what" "$native" "$status $out"
		[ -s "$work/report.log" ]
		judge "exec: $what: the log was open" $?
	done <<'LOOKS'
descriptors ls /proc/self/fd
signals grep -E '^Sig(Blk|Ign)' /proc/self/status
limits ulimit -a; umask; nice; cat /proc/self/timerslack_ns
LOOKS
}

# Twelve rounds leave what two do, and nothing has grown meanwhile. Nor has a count that is to fall again: of what
# redzones may take, of contexts and of modules whose kernels allocate there would be no more.
check_long_use() {
	local backend two
	for backend in "${backends[@]}"; do
		rounds "backend=$backend" 2
		two="$status $left"
		rounds "backend=$backend" 12
		same "long_use: backend=$backend: twelve rounds leave what two do" "$two" "$status $left"
		same "long_use: backend=$backend: and nothing has grown" "done" "$(grown)"
	done
	rounds redzone_mb=3 70 300
	same "long_use: of 70 contexts nothing is left" "0 " "$status $left"
	same "long_use: and nothing has grown" "done" "$(grown)"
	same "long_use: and all buffers are guarded" '21770 of 21770' "$(guarded_of "$err")"
	says "long_use: those of kernels, too" ' 700 buffers of kernels guarded' "$err"
	says "long_use: and nothing is asked of modules that are gone" '; 0 degraded;' "$err"
}

# grown: what the program has said of that. A sanitizer's own memory grows.
grown() {
	if is_sanitized; then
		sed -E '/^(memory|mappings): /d' <<<"$out"
	else
		echo "$out"
	fi
}

run_checks "$@"
