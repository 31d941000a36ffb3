#!/usr/bin/env bash
# What a CPU alone can show of the monitor, without a GPU or a driver: bench/results/cpu.md. Run by `make bench-cpu`, which
# builds bench/sweep.
#
#   cpu.bash
#
# Environment: MIB (default: 2048), memory for canary pages, which limits the buffers there can be.
set -u
cd "$(dirname "$0")/.." || exit 2
# shellcheck source=record.bash
. bench/record.bash

program=$build/bench/sweep
record=bench/results/cpu.md

# The first of `key : value` in /proc/cpuinfo.
cpuinfo() {
	sed -n "s/^$1[[:space:]]*: *//p" /proc/cpuinfo | head -n 1
}

device() {
	local model
	model=$(cpuinfo 'model name')
	echo "${model:-$(uname -m)} (family $(cpuinfo 'cpu family'), model $(cpuinfo model)), $(nproc) CPUs$(
		grep -qw hypervisor /proc/cpuinfo && echo ', in a virtual machine')"
}

header() {
	echo "# Sweeps on a CPU alone"
	echo
	echo "Written by \`make bench-cpu\`; see \`bench/README.md\`. No GPU, no driver."
	echo
	echo "- device: $the_device"
	echo "- compiler: $("${CC:-cc}" --version | head -n 1)"
	echo "- load: $(cut -d ' ' -f 1-3 /proc/loadavg) when it began"
	echo "- commit: $the_commit"
	echo "- date: $(date -u +%Y-%m-%dT%H:%MZ)"
}

build_programs() {
	[ -x "$program" ] || { echo "bench: $program is missing: make bench-cpu builds it" >&2 && exit 2; }
}

# Ticks that ran, and ticks that another virtual machine had instead.
ticks() {
	awk '/^cpu / { print $2 + $3 + $4 + $7 + $8, $9 }' /proc/stat
}

section_sweeps() {
	local buffers order line status ran stolen ran_before stolen_before
	read -r ran_before stolen_before < <(ticks)
	for buffers in 10 100 1000 10000 100000 1000000; do
		for order in allocated shuffled; do
			timeout -k 5 300 "$program" "$buffers" "$order" "${MIB:-2048}" >"$lines/stdout" 2>"$lines/stderr"
			status=$?
			while IFS= read -r line; do
				case $line in
				'FAIL '*) result "FAIL: $buffers buffers, $order: ${line#FAIL }" ;;
				*=*) result "$line" ;;
				esac
			done <"$lines/stdout"
			[ $status -eq 0 ] ||
				result "FAIL: $buffers buffers, $order: exit status $status $(tail -n 1 "$lines/stderr")"
		done
	done
	read -r ran stolen < <(ticks)
	result "stolen=$((stolen - stolen_before)) ran=$((ran - ran_before))"
}

if [ $# -gt 0 ]; then
	echo "usage: bench/cpu.bash" >&2
	exit 2
fi
if [ "${SANITIZE:-}" ]; then
	echo "bench: no figures of an instrumented library (SANITIZE=$SANITIZE)" >&2
	exit 2
fi
mkdir -p bench/results || exit 2
record_run cpu "" sweeps
