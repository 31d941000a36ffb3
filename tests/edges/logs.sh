#!/usr/bin/env bash
# Where reports go when that is difficult: full, closed, blocked, unwritable, hostile. The program must not notice.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

program=$programs/bad_then_return # one overflow, exit status 5
reported='^SUMMARY: GMOD: heap-buffer-overflow '

# fallen_back NAME PATTERN: the log was refused for a reason that matches, and the report came to stderr.
fallen_back() {
	same "$1: the program's status is its own" 5 "$status"
	says "$1: the refusal is explained" "$2" "$err"
	says "$1: the report comes to stderr" "$reported" "$err"
}

check_full_disk() {
	[ -c /dev/full ] || {
		skip full_disk "no /dev/full"
		return
	}
	guarded log_path=/dev/full "$program"
	fallen_back full_disk 'cannot write log_path /dev/full: No space left'
}

check_unwritable_path() {
	guarded "log_path=$work/no/such/directory/log" "$program"
	fallen_back "unwritable_path, no directory" 'cannot write log_path .*/no/such/directory/log: '
	guarded "log_path=$program/log" "$program"
	fallen_back "unwritable_path, below a file" 'cannot write log_path .*: '
	guarded "log_path=$work" "$program"
	fallen_back "unwritable_path, a directory" 'cannot write log_path .*: '
	touch "$work/precious"
	ln -s "$work/precious" "$work/link"
	guarded "log_path=$work/link" "$program"
	fallen_back "unwritable_path, a symbolic link" 'cannot write log_path .*: .*symbolic link'
	[ ! -s "$work/precious" ]
	judge "unwritable_path, a symbolic link: what it points to is untouched" $? "$(cat "$work/precious")"
}

check_not_permitted() {
	local other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	if [ "$(id -u)" -eq 0 ]; then
		command -v setpriv >/dev/null || {
			skip not_permitted "no setpriv"
			return
		}
		mkdir -m 755 "$work/readonly"
		chmod 755 "$all_work" "$work"
		alone "${other[@]}" test -x "$program"
		[ "$status" -eq 0 ] || {
			skip not_permitted "another user cannot run the programs here"
			return
		}
		# In a directory that everybody may enter, and nobody else may write.
		alone "${other[@]}" env "LD_PRELOAD=$gmod" \
			"GMOD_OPTIONS=log_path=$work/readonly/log" "$program"
	else
		mkdir -m 555 "$work/readonly"
		guarded "log_path=$work/readonly/log" "$program"
	fi
	fallen_back not_permitted 'cannot write log_path .*/readonly/log: Permission denied'
}

check_size_limit() {
	local options
	# stderr is a pipe: a file there could not grow either.
	guarded "log_path=$work/log" bash -c "set -o pipefail; { '$edges/size_limit' 2>&1 >&3 | cat >&2; } 3>&1"
	fallen_back size_limit 'cannot write log_path .*: File too large'
	# In the midst of a report, by the monitor or by the thread that frees.
	for options in verbosity=1 verbosity=1:scan_interval_us=10000000; do
		guarded "$options:log_path=$work/part" bash -c "set -o pipefail; { '$edges/size_limit' 300 2>&1 >&3 | cat >&2; } 3>&1"
		fallen_back "size_limit, $options, a part" 'cannot write log_path .*: File too large'
		rm "$work/part"
		guarded "$options" "$edges/size_limit" 300
		same "size_limit, $options, stderr: status, bytes" '5 300' "$status $(wc -c <"$work/guarded.err")"
	done
}

check_file() {
	guarded "log_path=$work/log.%p.%r" env -u RANK OMPI_COMM_WORLD_RANK=7 bash -c "echo \$\$; exec '$program'"
	same "file: stderr stays empty" '' "$err"
	says "file: the report is in the file" "$reported" "$(cat "$work/log.$out.7" 2>/dev/null)"
	same "file: only its owner reads it" 600 "$(stat -c %a "$work/log.$out.7" 2>/dev/null)"
	guarded "log_path=$work/never" "$programs/good_axpy"
	[ ! -e "$work/never" ]
	judge "file: none without a report" $?
}

check_named_stderr() {
	guarded log_path=/dev/stderr "$program"
	ended "named_stderr: as without a file" 5 1
	says_not "named_stderr: nothing is refused" 'cannot write' "$err"
}

check_closed_stderr() {
	guarded verbosity=2 bash -c "exec '$program' 2>&-"
	same "closed_stderr: the program's status is its own" 5 "$status"
	guarded verbosity=2 bash -c "exec '$program' >&- 2>&- <&-"
	same "closed_stderr: nor without any descriptor" 5 "$status"
	guarded verbosity=2 "$edges/recycled_stderr"
	same "recycled_stderr: its data file is its own" '0, 0 bytes' "$status, $(wc -c <"$work/guarded/data") bytes"
}

# Where stderr is something else for a while (pytest), the report waits; where it is another pipe (Jupyter), it is there.
check_stderr_for_a_while() {
	local begin=${EPOCHREALTIME/[.,]/}
	guarded verbosity=1 "$edges/recycled_stderr" and back
	ended "recycled_stderr, and back: the report comes late" 0 1
	same "recycled_stderr, and back: the data file is its own" 0 "$(wc -c <"$work/guarded/data")"
	guarded verbosity=1 env "LD_PRELOAD=$gmod $edges/plugin_late_threads.so" "$edges/recycled_stderr" and back
	ended "recycled_stderr, and back: so it does on a busy machine" 0 1
	guarded halt_on_error=1 "$edges/recycled_stderr" "for ever"
	same "recycled_stderr, halt_on_error: it is halted" 86 "$status"
	[ $((${EPOCHREALTIME/[.,]/} - begin)) -lt 5000000 ]
	judge "recycled_stderr: not held up" $? "$((${EPOCHREALTIME/[.,]/} - begin)) us"
}

# The reader of the pipe is gone: neither SIGPIPE nor an error reaches the program.
check_closed_pipe() {
	guarded verbosity=2 bash -c "'$program' 2> >(exec true); exit \$?"
	same "closed_pipe: the program's status is its own" 5 "$status"
	mkfifo "$work/pipe"
	guarded verbosity=2 bash -c "exec 9<>'$work/pipe' 2>'$work/pipe' 9>&-; exec '$program'"
	same "closed_pipe: nor from the start" 5 "$status"
}

# A pipe that is full and that nobody empties: the program is not held up.
check_full_pipe() {
	local begin
	mkfifo "$work/full"
	exec 9<>"$work/full"
	dd if=/dev/zero of="$work/full" bs=4096 count=64 oflag=nonblock 2>/dev/null
	begin=${EPOCHREALTIME/[.,]/}
	guarded verbosity=2 bash -c "exec '$program' 2>'$work/full'"
	same "full_pipe: the program's status is its own" 5 "$status"
	[ $((${EPOCHREALTIME/[.,]/} - begin)) -lt 5000000 ]
	judge "full_pipe: it is not held up" $? "$((${EPOCHREALTIME/[.,]/} - begin)) us"
	guarded halt_on_error=1 bash -c "exec '$programs/bad_halt' 2>'$work/full'"
	same "full_pipe: one that is to halt halts" 86 "$status"
	guarded "verbosity=2:log_path=$work/full" "$program"
	same "full_pipe as log_path: the program's status is its own" 5 "$status"
	says "full_pipe as log_path: the report comes to stderr" "$reported" "$err"
	exec 9>&-
}

# emptied OPTIONS: what comes out of a pipe that is full at first, behind what filled it.
emptied() {
	rm -f "$work/emptied"
	mkfifo "$work/emptied"
	exec 9<>"$work/emptied"
	dd if=/dev/zero of="$work/emptied" bs=4096 count=64 oflag=nonblock 2>/dev/null
	(sleep 0.7 && exec timeout 2 cat <&9 >"$work/read") &
	guarded "$1" bash -c "exec '$program' 2>'$work/emptied'"
	wait
	exec 9>&-
	read=$(tr -d '\0' <"$work/read")
}

# What does not fit into a pipe waits until somebody reads, but for notes, which are counted.
check_emptied_pipe() {
	local read
	emptied verbosity=1
	same "emptied_pipe: the report is there, whole" "5 1" "$status $(final_reports "$read")"
	emptied verbosity=2:log_format=json
	json "emptied_pipe, json" '^finding=[12] lost=1 memory=1 summary=1$' "$read"
}

# Who frees a buffer does not wait for the log, and does not burn CPU.
check_stalled_log() {
	guarded log_path=report.log "$edges/stalled_log"
	same "stalled_log: frees are not held up" "0 at once, idle" "$status $out"
	same "stalled_log: the report is whole" 1 "$(final_reports "$(cat "$work/guarded/report.log")")"
}

# apart NAME FILE COUNT: so many reports are complete in it, and no line of another process stands inside one.
apart() {
	same "$1: complete reports, strangers' lines" "$3, 0" "$(awk '
		/^==[0-9]+==GMOD: / { strays += inside; inside = / heap-buffer-overflow: / && !/ provisional/ }
		/^SUMMARY: / { done += inside; strays += !inside; inside = 0 }
		END { printf "%d, %d\n", done, strays + inside }' "$2")"
}

# Processes that share a log, or a pipe that is slowly read. What is longer than PIPE_BUF is test_log's.
check_crowd() {
	local crowd options=stack_depth=64:max_reports=100
	crowd="for i in 1 2 3 4 5 6 7 8; do '$edges/crowd' & done; wait"
	guarded "$options:log_path=$work/log" bash -c "$crowd"
	apart "crowd, one log" "$work/log" 320
	guarded "$options" bash -c "{ $crowd; } 2>&1 | { sleep 1; while read -r line; do printf '%s\n' \"\$line\"; done; }"
	apart "crowd, one pipe" "$work/guarded.out" "$(grep -c '^SUMMARY: ' "$work/guarded.out")"
}

# printable NAME TEXT: nothing that a terminal acts on or that hides.
printable() {
	! LC_ALL=C grep -qP '[^\x20-\x7e\t]' <<<"$2"
	judge "$1" $? "$2"
}

check_hostile_names() {
	guarded verbosity=1 env "GMOD_TEST_KERNELS=$edges/plugin_hostile_kernels.so" "$edges/hostile_names"
	same "hostile_names: the program runs as alone" '0 done' "$status $out"
	same "hostile_names: four reports" 4 "$(final_reports "$err")"
	printable "hostile_names: all is printable" "$err"
	says_not "hostile_names: no line of their own" '^(==1==GMOD|SUMMARY: GMOD: nothing)' "$err"
	# The suggested commands, given to a shell that would do what the names say.
	sed -n 's/^ *next step: //p' <<<"$err" >"$work/commands"
	same "hostile_names: each report has its next step" "$(grep -c 'past the end of a 4096-byte buffer' <<<"$err")" \
		"$(wc -l <"$work/commands")"
	(cd "$work" && PATH=/nowhere:$PATH bash -c 'compute-sanitizer() { :; }; . ./commands') >/dev/null 2>&1
	[ ! -e "$work/owned" ]
	judge "hostile_names: the suggested command does nothing else" $? "$(cat "$work/commands")"
	guarded log_format=json:verbosity=1 env "GMOD_TEST_KERNELS=$edges/plugin_hostile_kernels.so" "$edges/hostile_names"
	printable "hostile_names, json: all is printable" "$err"
	json "hostile_names, json" '^finding=[4-8] memory=1( note=1)? summary=1$' "$err"
}

check_hostile_program_name() {
	local evil=$work/$'evil\n==1==GMOD: no\e[31m; touch owned'
	cp "$program" "$evil"
	# shellcheck disable=SC2016 # that shell expands it; env would take the name for a variable
	guarded '' bash -c 'exec "$0"' "$evil"
	says "hostile_program_name: it is reported" "$reported" "$err"
	printable "hostile_program_name: all is printable" "$err"
	says_not "hostile_program_name: no line of its own" '^==1==GMOD' "$err"
}

check_json() {
	guarded log_format=json:verbosity=1 "$program"
	json json '^finding=[12] memory=1( note=1)? summary=1$' "$err"
	guarded log_format=json:verbosity=2:sampel_rate=7 "$program"
	says "json: complaints come too" 'sampel_rate.*sample_rate' "$err"
	guarded log_format=json "$programs/bad_launch_ex"
	says "json: the shape of a launch" '"grid":\[1,3,1\],"block":\[32,1,1\]' "$err"
	guarded "log_format=json:verbosity=2:log_path=$work/log" "$program"
	json "json: a file has nothing else" '^finding=[12] memory=1 note=[0-9]+ summary=1$' "$(cat "$work/log")"
	guarded "log_format=json:verbosity=1:log_path=$work" "$program"
	json "json: a refused file" '^finding=[12] log-refused=1 memory=1( note=1)? summary=1$' "$err"
}

# Of each class, memory and backend; all programs that have a bug where GMOD_TEST_THOROUGH is set.
check_schema() {
	local name names=(bad_overflow_1 bad_copy_2d bad_double_free_host bad_between_under bad_free_by_other_call bad_leak
		bad_illegal_address_beside_many bad_use_after_free bad_graph_kernel_node bad_pool_asked bad_managed_underflow
		bad_inkernel_double_free bad_inkernel_invalid_free)
	[ -z "${GMOD_TEST_THOROUGH:-}" ] || mapfile -t names < <(tests/programs/list | grep -o '^bad_[^ ]*')
	for name in "${names[@]}"; do
		guarded "log_format=json:verbosity=2:leak_check=1:max_overhead=100:quarantine_mb=4:log_path=$work/$name.%p" \
			env SIM_DEVICES=2 LOCAL_RANK=0 RANK=5 "$programs/$name"
	done
	json "schema" '^finding=[0-9]+ memory=[0-9]+ note=[0-9]+ summary=[0-9]+( suspects=[0-9]+)?$' "$(cat "$work"/bad_*)"
	same "schema: of every class" "api-out-of-bounds double-free heap-buffer-overflow heap-buffer-underflow invalid-free leak \
post-mortem use-after-free" "$(cat "$work"/bad_* | grep -o '"class":"[a-z-]*"' | cut -d '"' -f 4 | sort -u | xargs)"
	same "schema: of every memory" "device kernel managed pinned" \
		"$(cat "$work"/bad_* | grep -o '"memory":"[a-z]*"' | cut -d '"' -f 4 | sort -u | xargs)"
}

run_checks "$@"
