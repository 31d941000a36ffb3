#!/usr/bin/env bash
# What a program can tell of GMOD: the conformance program runs alone and under it, and the facts that differ are those of
# differences.txt, each of which gmod(1) owns up to; with another backend than the default, those of
# differences-BACKEND.txt.
#
#   differences.sh [facts|unified|managed|captures]   one check, or all
#   UPDATE=1 differences.sh                           writes the files anew
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

limit=120

# Our bytes show in the distance between two buffers and in what one costs; and what the driver keeps in hand of freed
# managed memory, the next managed buffer does not cost. tests/gpu/run leaves out the same.
quantities='^[-+](spacing of |until they are prefetched)'

# changes FROM TO: the lines that differ.
changes() {
	diff -U0 "$1" "$2" | grep '^[-+]' | grep -vE '^(---|\+\+\+) '
}

# compare OPTIONS: runs it both ways; $found is what differs.
compare() {
	alone "$programs/conformance"
	[ "$status" -eq 0 ] || return
	echo "$out" >"$work/facts.alone"
	guarded "max_reports=1:$1" "$programs/conformance"
	[ "$status" -eq 0 ] || return
	echo "$out" >"$work/facts.guarded"
	found=$(changes "$work/facts.alone" "$work/facts.guarded" | grep -vE "$quantities")
}

# Facts about waiting come out wrong now and then where the machine is busy: such a difference goes away.
# differ_as_known NAME FILE OPTIONS
differ_as_known() {
	local found more tries
	for ((tries = 0; tries < 3; tries++)); do
		compare "$3"
		same "$1: it runs to its end" 0 "$status"
		[ -z "${UPDATE:-}" ] || echo "$found" >"$top/$2"
		more=$(changes "$top/$2" <(echo "$found"))
		[ -n "$more" ] || break
	done
	[ -z "$more" ]
	judge "$1: what differs is what is known to" $? "more than in $2: lines with +, less: with -" "$more"
}

check_facts() {
	differ_as_known facts tests/edges/differences.txt ''
}

check_unified() {
	differ_as_known unified tests/edges/differences-unified.txt backend=unified
}

check_managed() {
	differ_as_known managed tests/edges/differences-managed.txt backend=managed
}

# A fence shows in a hundred facts. That it ends no capture is one that all programs with graphs rely on.
check_captures() {
	local found
	compare backend=fence:faults=exact
	same "fences: it runs to its end" 0 "$status"
	same "fences: each capture goes on that goes on without GMOD" "" "$(grep '^+.*, the capture: lost$' <<<"$found")"
}

run_checks "$@"
