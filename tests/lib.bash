# shellcheck shell=bash disable=SC2034 # those who source it use the variables
# What the runners and scripts of the tests share. Sourced; it goes to the top directory.
#
# A test says PASS NAME, FAIL NAME: WHY or SKIP NAME: WHY, with more about it on indented lines, and ends with its tally,
# "N passed, N failed, N skipped". What the caller set for other programs, and the make that may run this, do not belong
# into what is tested.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
top=$PWD
build=$(realpath -m "${BUILD:-build}") # absolute
unset GMOD_OPTIONS LD_PRELOAD MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
ulimit -S -c 0

# A version manager's python3 is a script that takes longer than most of what is asked of it: the tests call Python itself.
if [ -z "${GMOD_TEST_PYTHON:-}" ]; then
	GMOD_TEST_PYTHON=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
	export GMOD_TEST_PYTHON
	[ -z "$GMOD_TEST_PYTHON" ] || PATH=${GMOD_TEST_PYTHON%/*}:$PATH
fi

limit=60 # seconds a command of launch() may take
passed=0 failed=0 skipped=0

# usage: the comment at the head of the script, and exit status 2.
usage() {
	sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

# make_work: $work is an empty directory until the end, and longer where KEEP is set; $all_work is the same, where a
# script gives its tests a $work each.
make_work() {
	work=$(mktemp -d)
	all_work=$work
	trap '[ -n "${KEEP:-}" ] && echo "kept: $all_work" || rm -rf "$all_work"' EXIT
}

# ---- verdicts ----

# pass NAME; fail NAME DETAIL...; skip NAME REASON
pass() {
	passed=$((passed + 1))
	echo "PASS $1"
}

fail() {
	failed=$((failed + 1))
	echo "FAIL $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | head -c 4000 | sed 's/^/     /'
}

skip() {
	skipped=$((skipped + 1))
	echo "SKIP $1: $2"
}

# judge NAME WHETHER DETAIL...: WHETHER is 0 for good.
judge() {
	if [ "$2" -eq 0 ]; then
		pass "$1"
	else
		fail "$1" "${@:3}"
	fi
}

# same NAME WANT GOT; says NAME PATTERN TEXT; says_not NAME PATTERN TEXT
same() {
	[ "$2" = "$3" ]
	judge "$1" $? "expected: $2" "got:      $3"
}

says() {
	grep -qE -- "$2" <<<"$3"
	judge "$1" $? "no match of: $2" "in: $3"
}

says_not() {
	! grep -qE -- "$2" <<<"$3"
	judge "$1" $? "matches: $2" "in: $3"
}

# has_changed PATH...: whether a file there changed lately (scripts/changed), nobody knows, or all tests are run: then what
# takes long and depends on them alone has to run.
has_changed() {
	local files
	[ -z "${GMOD_TEST_THOROUGH:-}" ] && files=$(scripts/changed "$@" 2>/dev/null) || return 0
	[ -n "$files" ]
}

# ---- tallies ----

tally() {
	echo "$passed passed, $failed failed$([ "$skipped" -gt 0 ] && echo ", $skipped skipped")"
}

# tally_in FILE: "PASSED FAILED SKIPPED" from the last line that is a tally; nothing where there is none.
tally_in() {
	sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 \4/p' "$1" | tail -n 1
}

# finish: the tally, and the exit status that goes with it.
finish() {
	tally
	[ "$failed" -eq 0 ]
	exit
}

# ---- running ----

# launch DIRECTORY COMMAND...: runs it in DIRECTORY, made anew; $status is what it gave, DIRECTORY.out and .err what it said.
launch() {
	local directory=$1
	shift
	rm -rf "${directory:?}"
	mkdir -p "$directory"
	# What the shell says of a command that died of a signal goes nowhere.
	{ (cd "$directory" && exec timeout -k 5 "$limit" "$@") >"$directory.out" 2>"$directory.err" </dev/null; } 2>/dev/null
	status=$?
}

# left_over NATIVE GUARDED: what the ledger of a guarded run (SIM_LEDGER of the simulated driver) has and the native run's
# has not, beside what GMOD keeps in a context that lives: a stream, an event, a tiny buffer and the gather's staging
# memory; for looks at memory in stream order, where there was any, what they arrive in; for the patrol, if its library is there, eight streams, its list and its answers; and for each device heap in
# one two streams, an event, two buffers and a ring. A device buffer may be managed, and what the host has is its own and
# registered, or the driver's.
left_over() {
	awk '
	{ kind = $1 }
	kind == "managed" { kind = "device" }
	kind == "registered" { kind = "host" }
	FILENAME == ARGV[1] { more[kind] -= $2; next }
	{ more[kind] += $2 }
	kind == "contexts" { contexts += $2 }
	kind == "in_order" { more[kind] = 0; in_order += $2 }
	END {
		own["libraries"] = more["libraries"] > 0
		patrols = own["libraries"] * contexts
		heaps = int((more["streams"] < more["device"] ? more["streams"] : more["device"]) / 2)
		own["streams"] = contexts + 8 * patrols + 2 * heaps
		own["events"] = contexts + heaps
		own["device"] = contexts + 2 * heaps
		own["host"] = contexts + in_order + 2 * patrols + heaps
		for (kind in more)
			if (more[kind] > own[kind])
				printf "%s%d %s too many", n++ ? ", " : "", more[kind] - own[kind], kind
	}' "$1" "$2"
}

# wait_for_room JOBS: until fewer than so many jobs run in the background.
wait_for_room() {
	while [ "$(jobs -rp | wc -l)" -ge "$1" ]; do
		wait -n
	done
}

# publish DIRECTORY NAME: what a job in the background says, its verdict first, is there for tell as a whole.
publish() {
	mkdir -p "$1"
	cat >"$1/.$2"
	mv "$1/.$2" "$1/$2"
}

# tell DIRECTORY: prints and counts what was published since the last time.
tell() {
	local file
	for file in "$1"/*; do
		[ -f "$file" ] || continue
		cat "$file"
		case $(head -n 1 "$file") in
		PASS*) passed=$((passed + 1)) ;;
		SKIP*) skipped=$((skipped + 1)) ;;
		*) failed=$((failed + 1)) ;;
		esac
		rm "$file"
	done
}
