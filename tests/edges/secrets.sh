#!/usr/bin/env bash
# The key of the canaries leaves the process in no report, no log and no core file. A debugger reads it from the running
# program, and what the program leaves behind is searched for it: whole, and each half, as bytes, as hex and as numbers.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# A small device: a core file of it is soon written.
export SIM_MEMORY=268435456

# debug COMMAND... -- PROGRAM: runs the program under GMOD until its last report is out, and then the commands in gdb.
debug() {
	local commands=()
	while [ "$1" != -- ]; do
		commands+=(-ex "$1")
		shift
	done
	shift
	alone gdb -nx -batch -ex 'set pagination off' -ex 'set confirm off' -ex 'set breakpoint pending on' \
		-ex 'set startup-with-shell off' -ex 'set debuginfod enabled off' -ex "set env LD_PRELOAD=$gmod" \
		-ex "set env GMOD_OPTIONS=$options" -ex 'handle SIGSEGV nostop noprint pass' \
		-ex 'break gmod_report_end' -ex run "${commands[@]}" "$@"
}

show_key='x/16xb gmod_hot.key'

# find_key: sets $key to its 16 bytes in hex, in memory order, from what gdb printed.
find_key() {
	key=$(sed -nE 's/^0x[0-9a-f]+( <[^>]*>)?:\t(.*)/\2/p' <<<"$out" | grep -oE '0x[0-9a-f]{2}' | head -n 16 | sed 's/0x//' |
		tr -d '\n')
	[[ $key =~ ^[0-9a-f]{32}$ ]] && [ "$key" != 00000000000000000000000000000000 ]
}

have_debugger() {
	[ -z "${debugger_works:-}" ] || return 0
	command -v gdb >/dev/null || {
		skip "$1" "no gdb"
		return 1
	}
	options=verbosity=2 debug "$show_key" -- "$programs/bad_then_return"
	if find_key; then
		debugger_works=yes first_key=$key
		return 0
	fi
	if grep -qE 'ptrace|Operation not permitted' <<<"$out$err"; then
		skip "$1" "no process can be debugged here"
	else
		fail "$1: the debugger finds the key" "$out" "$err"
	fi
	return 1
}

reversed() {
	local s=$1 r='' i
	for ((i = ${#s} - 2; i >= 0; i -= 2)); do
		r+=${s:i:2}
	done
	echo "$r"
}

# spellings HALF: how its 8 bytes could be written: in memory order, as a number in hex, with spaces, as a decimal.
spellings() {
	local number
	number=$(reversed "$1")
	echo "$1"
	echo "$number"
	# shellcheck disable=SC2001 # a pattern with a group
	sed 's/../& /g; s/ $//' <<<"$1"
	printf '%u\n' "0x$number"
	echo $((0x$number))
}

# keeps_key FILE...: none of the files holds the key in any spelling.
keeps_key() {
	! grep -qiF -e "$(spellings "${key:0:16}")" -e "$(spellings "${key:16}")" "$@"
}

check_reports() {
	local program
	have_debugger reports || return
	for program in bad_overflow_4096 bad_illegal_address; do
		for options in verbosity=2:leak_check=1 "verbosity=2:log_format=json:log_path=$work/log"; do
			rm -f "$work/log"
			debug "$show_key" continue -- "$programs/$program"
			find_key || {
				fail "reports: $program, $options: the debugger finds the key" "$out" "$err"
				continue
			}
			# gdb itself prints it on stdout, where the program's reports are not.
			cat "$work/native.err" "$work/log" >"$work/said" 2>/dev/null
			grep -qi 'gmod' "$work/said"
			judge "reports: $program, ${options%%:log_path*}: something is said" $? "$err"
			keeps_key "$work/said"
			judge "reports: $program, ${options%%:log_path*}: not the key" $? "$(cat "$work/said")"
		done
	done
}

# As the kernel writes it when the program dies. (A debugger's own would fill the disk with address space.)
check_core() {
	local pattern core
	pattern=$(cat /proc/sys/kernel/core_pattern)
	case $pattern in
	*[/\|]*)
		skip core "core files go elsewhere: $pattern"
		return
		;;
	esac
	have_debugger core || return
	ulimit -S -c 1048576 2>/dev/null || {
		skip core "core files are not allowed"
		return
	}
	options=verbosity=1 debug "$show_key" 'signal SIGABRT' -- "$edges/marked"
	ulimit -S -c 0
	core=$(find "$work/native" -name "${pattern%%%*}*" -type f | head -n 1)
	if ! find_key || [ ! -s "$core" ]; then
		skip core "the kernel writes no core file here"
		return
	fi
	"$edges/holds" "$core" "$(printf 'gmod-edges-marker' | od -An -tx1 | tr -d ' \n')"
	judge "core: it holds the program's memory" $? "$(ls -ls "$core")"
	"$edges/holds" "$core" "${key:0:16}" "${key:16}"
	same "core: neither half of the key" 1 $?
	rm "$core"
}

# What keeps it out: its page, and those with what is made of it, are marked as not to be dumped, and wiped in a child.
check_marked_pages() {
	local page flags
	have_debugger marked_pages || return
	# shellcheck disable=SC2016 # these are gdb's values
	options=verbosity=1 debug "$show_key" 'p/x (unsigned long)&gmod_hot' \
		'python print(open("/proc/%d/smaps" % gdb.selected_inferior().pid).read())' kill -- "$edges/marked"
	# shellcheck disable=SC2016
	page=$(sed -nE 's/^\$1 = 0x([0-9a-f]+).*/\1/p' <<<"$out")
	flags=$(sed -n "/^${page:-none}-/,/^VmFlags/p" <<<"$out" | tail -n 1)
	says "marked_pages: not dumped" '^VmFlags:.* dd( |$)' "$flags"
	says "marked_pages: wiped in a forked child" '^VmFlags:.* wf( |$)' "$flags"
}

# Two runs of one program: nothing of one run's key is in the other's.
check_fresh_key() {
	local first
	have_debugger fresh_key || return
	first=$first_key
	options=verbosity=1 debug "$show_key" -- "$programs/bad_then_return"
	find_key
	[ "$key" ] && [ "${key:0:16}" != "${first:0:16}" ] && [ "${key:16}" != "${first:16}" ]
	judge "fresh_key: each process has its own" $? "$first" "$key"
}

# What lies around buffers differs between sides, buffers, allocations at one address, and runs.
check_canaries() {
	local first where run=("$edges/canaries")
	# Without randomised addresses the runs have the same ones, so that the key alone can make the difference.
	setarch "$(uname -m)" -R true 2>/dev/null && run=(setarch "$(uname -m)" -R "$edges/canaries")
	guarded backend=managed "${run[@]}"
	first=$out where=$err
	same "canaries: the program runs" 0 "$status"
	says "canaries: addresses are used again" reused "$err"
	guarded backend=managed "${run[@]}"
	same "canaries: 16 places in two runs, none like another" 32 "$(printf '%s\n' "$first" "$out" | sort -u | wc -l)"
	[ "$where" = "$err" ] || skip "canaries: two runs with the same addresses" "addresses are random here"
}

run_checks "$@"
