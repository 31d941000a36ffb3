#!/usr/bin/env bash
# backend=fence: what programs of tests/programs/fence cannot show.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# `tests/run-programs --backend fence` fails in these programs, and is to:
#
# The access past the end, or before the start, is a fault: a post-mortem instead of the expected class, or an error where
# the program expects none:
#   bad_green_wait bad_primary_again bad_every_proof bad_far_write bad_odd_sizes bad_pitched bad_halt bad_large_after_fork
#   bad_at_once_large bad_overflow_1_at_page_end bad_overflow_255 bad_overflow_4096 bad_size_1_mib bad_large_underflow_1
#   bad_overflow_atomic_page_end bad_large_across_the_border bad_overflow_stride bad_overflow_stride_page
#   bad_while_kernel_runs bad_static_tls_504 bad_static_tls_600 bad_then_abort bad_then_kill
# The same, where the fault is a read, which other backends do not see: good_far_read
# The same, where the program waits for its kernel to say something, and the kernel is gone: for a flag in bad_restored
# and bad_underflow_restored, for a provisional report in bad_overflow_grows
# Which of them fault depends on fence_side too: by chance one in 8 has its start at the fence, and not its end.
#
# Buffers in stream order have no canaries then. The access past the end is a fault, or meets nothing: bad_pool_*.
# good_pool_freed_told: cuMemFree frees what the program knows to be done otherwise than by a wait; its blocks are not
# used again before fence_mb is reached
# bad_underflow_4096: canaries go farther before the buffer, so that the change is seen as far as it goes
# bad_beside_a_kernel: the program relies on the address that was freed last being given out again
# good_large_many: of more than fence_mb holds, multiples of 2 MiB have no redzones beyond redzone_mb

export PYTHONDONTWRITEBYTECODE=1

# fenced TEXT: how many buffers the closing line says were.
fenced() {
	closing 'buffers? fenced' "$1"
}

# hunt NAME BYTES NEARNESS COMMAND...: a first run, by default; then the site that its log names is fenced alone, whichever the
# form, and as near as its next step says, so that what lies that many bytes beyond the buffer faults.
hunt() {
	local name=$1 bytes=$2 nearness=$3 form sites
	shift 3
	rm -f "$work"/log.*
	for form in text json; do
		guarded "log_format=$form:log_path=$work/log.$form${first:+:$first}" "$@"
		[ "$form" = json ] || says "$name: the first run says how" \
			"^    next step: gmod --exact $nearness [^-;][^;]*; or compute-sanitizer " "$(<"$work/log.text")"
	done
	sites=$("$top/scripts/gmod" report --sites "$work/log.text" | sed 1q)
	says "$name: a place is named" '^0x[0-9a-f]+$' "$sites"
	same "$name: the same one in JSON" "$sites" "$("$top/scripts/gmod" report --sites "$work/log.json" | sed 1q)"
	for form in text json; do
		run_in exact env -u LD_PRELOAD "GMOD_BUILD=$build" "$top/scripts/gmod" "--exact=$work/log.$form" "$@"
		says "$name: the kernel faults, by the log in $form" \
			'^==[0-9]+==GMOD: gpu-fault: .* '"$bytes a 1000-byte buffer" "$err"
		says "$name: its line, by the log in $form" '^    in kernel k_flip, at .*kernels\.cu:[0-9]+$' "$err"
		says "$name: nothing else is fenced, by the log in $form" '; 1 buffer fenced \(1000 B\)' "$err"
		says_not "$name: its place was met, by the log in $form" 'fence_sites where' "$err"
	done
	guarded "verbosity=1:backend=fence:fence_sites=1,$sites,0x2" "$@"
	says "$name: places where nothing is allocated are named" \
		'^==[0-9]+==GMOD: fence_sites where nothing was allocated that can have a fence: 0x1, 0x2$' "$err"
}

check_exact_log() {
	hunt C '24 bytes past the end of' --fence_side=end "$edges/placed" overrun 1024
	hunt near '8 bytes past the end of' '--fence_side=end --fence_align=16' "$edges/placed" overrun 1008
	first=backend=unified hunt before '8 bytes before the start of' --fence_side=start "$edges/placed" overrun -8
}

check_exact_log_python() {
	local python
	python=$(command -v python3)
	"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null || {
		skip "Python" "Python 3.11 is not installed"
		return
	}
	hunt Python '24 bytes past the end of' --fence_side=end "$python" "$top/tests/edges/fence.py"
	guarded backend=fence:faults=exact:fence_uaf=1000000 "$python" "$top/tests/edges/fence.py" freed
	says "Python: the first buffer of a second line is unmapped, too" 'GMOD: gpu-fault: ' "$err"
}

# Logs that name nothing.
check_exact_log_empty() {
	guarded "log_path=$work/log" "$programs/good_fence_read"
	: >>"$work/log"
	run_in exact env "GMOD_BUILD=$build" "$top/scripts/gmod" "--exact=$work/log" "$programs/good_fence_read"
	same "no finding: the status" 2 "$status"
	says "no finding: it is said" "gmod: $work/log has no finding of a buffer; gmod --exact without it fences all" "$err"
	run_in exact env "GMOD_BUILD=$build" "$top/scripts/gmod" "--exact=$work/none" "$programs/good_fence_read"
	same "no log: the status" 2 "$status"
}

# A number repeats which of them lie at which side, and the line at the start has it.
check_seed() {
	local first seed
	guarded backend=fence:fence_seed=5 "$edges/placed"
	first=$out
	guarded backend=fence:fence_seed=5 "$edges/placed"
	same "a seed repeats" "$first" "$out"
	says "a seed: some lie at the start" '^0$' "$out"
	says "a seed: others at the end" "^$(((2 << 20) - 1024))$" "$out"
	guarded backend=fence:fence_seed=6 "$edges/placed"
	[ "$first" != "$out" ]
	judge "another seed: another order" $?
	guarded backend=fence:verbosity=1 "$edges/placed"
	first=$out
	seed=$(sed -nE 's/^==[0-9]+==GMOD: fence_seed=([0-9]+)$/\1/p' <<<"$err")
	at_least "by chance: the seed is told" 1 "${seed:-0}"
	guarded "backend=fence:fence_seed=$seed" "$edges/placed"
	same "by chance: it repeats that run" "$first" "$out"
	guarded backend=fence:fence_seed=2147483647:verbosity=1 "$edges/placed"
	says "the largest seed is taken" 'GMOD: fence_seed=2147483647$' "$err"
	guarded verbosity=1 "$edges/placed"
	says_not "without fences: no seed" fence_seed "$err"
}

# clause NAME OPTIONS PROGRAM PATTERN
clause() {
	guarded "verbosity=1:backend=fence:$2" ${devices:+env SIM_DEVICES=2} "$programs/$3"
	says "closing line: $1" "GMOD: guarded .*$4" "$err"
}

check_closing() {
	local devices=
	clause "fenced" '' good_fence_read '; 1 buffer fenced \(4.0 KiB\); fences took 2 MiB at most; own cost: .*; not seen: reads, and in stream order stores, of what rounding up to fence_align adds; shared and local memory, races, '
	clause "places" fence_sites=1 good_fence_read '; what fence_sites is to find did not come in this process: run it again, or fence all by gmod --exact; not seen: '
	clause "in stream order" '' good_tensor_large '; 1 buffer in stream order fenced \(5.0 MiB\); fences took 6 MiB at most; .* 1 guarded \(5.0 MiB\)'
	clause "exportable pools" '' good_tensor_pool_exported '; 1 buffer without a fence, for captures, peers, MPS or libraries that share memory'
	clause "captures, in stream order" '' good_tensor_in_a_capture '; 1 buffer in stream order fenced .*; 2 buffers without a fence, for captures'
	clause "beyond" fence_mb=4 good_fence_last_of_three '; 2 buffers fenced \(1.9 KiB\); 1 buffer without a fence, beyond fence_mb'
	clause "libraries" '' good_fence_made_by_nccl '; 1 buffer without a fence, for captures, peers, MPS or libraries that share memory'
	clause "captures" '' good_fence_made_in_a_capture '; 1 buffer without a fence, for captures, peers, MPS or libraries that share memory'
	devices=2
	clause "peers, before" '' good_fence_peers_first '; 1 buffer without a fence, for captures, peers, MPS or libraries that share memory'
	says "peers, before: it is said why, and what helps" 'GMOD: no fence behind .* on device 0 from now on: .*; CUDA_VISIBLE_DEVICES hides the others if it names GPU-[0-9a-f-]{36}$' "$err"
	clause "peers, after" '' good_fence_peers_later '; 1 buffer fenced \(4.0 KiB\); 1 fence closed for peers'
	devices=
	guarded "verbosity=1:backend=fence:faults=exact:fence_side=end" "$programs/bad_fence_read"
	says_not "closing line: with a finding it does not say what is not seen" 'not seen: ' "$err"
}

# A fault would end the other clients of an MPS server.
check_mps() {
	guarded "backend=fence:faults=exact:verbosity=1" env SIM_MPS=1 "$programs/bad_size_1_mib"
	says "MPS: it is said" 'no fences on device 0: under MPS' "$err"
	says "MPS: canaries find the store" 'GMOD: heap-buffer-overflow: ' "$err"
	says "MPS: no fence is advised" '^    next step: compute-sanitizer ' "$err"
	same "MPS: no buffer is fenced" "" "$(grep -o '[0-9]* buffers\? fenced' <<<"$err")"
}

check_export() {
	guarded backend=fence "$programs/good_fence_exported"
	says "export: it is refused" '^exported: 1$' "$out"
	same "export: a line says by which option" 1 \
		"$(grep -c 'GMOD: cuIpcGetMemHandle was refused because GMOD_OPTIONS asks for backend=fence' <<<"$err")"
}

# Where the driver refuses something, buffers have canaries, and the program runs as it does alone.
check_refused() {
	local what
	alone "$programs/good_fence_threads"
	native="$status $out"
	for what in cuMemAddressReserve:'*' cuMemCreate:'*' cuMemMap:'*' cuMemSetAccess:3-9 cuMemUnmap:'*' cuMemMap:3-9; do
		guarded backend=fence:verbosity=1 env "SIM_FAIL=$what:2" "$programs/good_fence_threads"
		same "$what is refused: as alone" "$native" "$status $out"
		says "$what is refused: all are guarded" 'GMOD: guarded 321 of 321 buffers' "$err"
	done
	guarded backend=fence:verbosity=1 env SIM_FAIL=cuMemGetInfo_v2:'*':2 "$programs/good_fence_threads"
	same "cuMemGetInfo is refused: as alone" "$native" "$status $out"
	guarded backend=fence:verbosity=1 env "SIM_FAIL=cuMemAddressReserve:1-5:2" "$programs/good_fence_threads"
	same "a lower limit of addresses: all are fenced" 321 "$(fenced "$err")"
}

# All of them wait for the first to have the addresses.
check_at_once() {
	guarded backend=fence:verbosity=1 env SIM_STALL=cuMemAddressReserve:1:100 "$programs/good_fence_threads"
	same "threads at once: all buffers are fenced" 321 "$(fenced "$err")"
}

run_checks "$@"
