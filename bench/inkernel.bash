#!/usr/bin/env bash
# Memory that kernels allocate, beside CUDA's own: bench/inkernel.md.
#
#   inkernel.bash [SECTION...]
#
#   programs   the paper's five programs at three numbers of threads
#   malloc     allocation alone
#   latency    how long a stray store stays unseen, by live buffers and guard workers
#   stress     10^8 allocations and frees; then a heap that is too small; then CUDA's heap under GMOD
#
# Programs and malloc run in turns: a process without GMOD, one with each heap of GMOD, and another one without, which
# shows how far two identical processes are apart. The order changes from round to round.
set -u
cd "$(dirname "$0")/.." || exit 2
# shellcheck source=record.bash
. bench/record.bash

rounds=3
arms=(cuda slab native again)
program=$build/bench/inkernel

# measure PREFIX ARM OPTIONS ARGUMENT...: run the program; its lines, with the prefix, are results.
measure() {
	local prefix=$1 arm=$2 options=$3 line status said=
	shift 3
	under "$arm" "$options" "$program" "$@" >"$lines/stdout"
	status=$?
	while IFS= read -r line; do
		case $line in
		'FAIL '*) result "FAIL: $prefix: ${line#FAIL }" && said=yes ;;
		*=*) result "$prefix $line" ;;
		esac
	done <"$lines/stdout"
	[ $status -eq 0 ] || [ "$said" ] || result "FAIL: $prefix: $*: $(outcome $status "$(tail -n 1 "$lines/stderr")")"
}

# in_turns NAME: one program, all arms, all rounds.
in_turns() {
	local round turn arm memory
	for ((round = 1; round <= rounds; round++)); do
		for turn in "${!arms[@]}"; do
			arm=${arms[(turn + round - 1) % ${#arms[@]}]}
			case $arm in
			cuda | again) memory=cuda ;;
			*) memory=gmod ;;
			esac
			measure "round=$round arm=$arm" "$arm" '' program "$memory" "$1"
		done
	done
}

section_programs() {
	local name
	for name in alloc-dealloc alloc-cycle-dealloc grid-point add-string random-graph; do
		in_turns "$name"
	done
}

section_malloc() {
	in_turns malloc
}

section_latency() {
	local buffers guards
	for buffers in 100 1000 10000 100000; do
		measure "arm=cuda" cuda '' latency cuda "$buffers"
		for guards in 8 32 128 256; do
			measure "arm=slab guards=$guards" slab "device_guards=$guards" latency gmod "$buffers"
		done
		measure "arm=slab guards=32,persistent" slab device_guard=persistent latency gmod "$buffers"
	done
}

section_stress() {
	measure "arm=slab" slab '' stress gmod 100000000
	measure "arm=slab" slab device_heap_mb=64 stress gmod 10000000 16
	measure "arm=native" native '' stress gmod 1000000 16
}

record_run inkernel "Memory that kernels allocate" "programs malloc latency stress" "$@"
