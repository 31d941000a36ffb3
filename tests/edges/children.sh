#!/usr/bin/env bash
# What GMOD starts at a finding, a symbolizer (symbolize) or the user's command (on_finding), does the program no harm.
# shellcheck source=edgelib disable=SC2317,SC2016,SC2086 # checks are called by their names; scripts are quoted; words are wanted
. "$(dirname "$0")/edgelib"

real=$PATH

# tool NAME SCRIPT: the PATH that has this one alone in front, as NAME, and what scripts need.
tool() {
	mkdir -p "$work/bin"
	printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
	echo "$work/bin:$(no_tool)"
}

# no_tool: a PATH that has no symbolizer.
no_tool() {
	mkdir -p "$all_work/plain"
	ln -sf "$(PATH=$real command -v sleep)" "$(PATH=$real command -v awk)" "$all_work/plain"
	echo "$all_work/plain"
}

# with_path PATH CASE [OPTIONS]
with_path() {
	guarded "symbolize=1:verbosity=1${3:+:$3}" "$(command -v env)" "PATH=$1" "$edges/children" ${2-}
}

# frames TEXT: those of the final report, without addresses.
frames() {
	sed -n '/ \[finding 1\]$/,$p' <<<"$1" | sed -n '/^ *buffer /,/^    written/s/^      #//p' | sed -E "s| [^ ]*/| |g; s/\+0x[0-9a-f]+//"
}

line_of() {
	grep -n "$1" tests/edges/children.c | head -n 1 | cut -d : -f 1
}

# has_lines NAME: as DWARF has them.
has_lines() {
	local inlined outer
	inlined=$(line_of '	return make_buffer(size);')
	outer=$(line_of '= make_inlined(1000);')
	same "$1" "1 overrun  children  children.c:$inlined in make_inlined, inlined at children.c:$outer" "$(frames "$err" | sed -n 2p)"
}

# offsets NAME NOTE: the report has offsets, and one line says why.
offsets() {
	same "$1: a report" 1 "$(final_reports "$err")"
	says "$1: offsets" '^0 make_buffer  children 1 overrun  children 2 main  children$' "$(frames "$err" | head -n 3 | paste -s -d ' ')"
	same "$1: it is said once why" 1 "$(grep -cE "GMOD: no lines of the host code of $2" <<<"$err")"
}

check_lines() {
	local name path
	for name in llvm-symbolizer addr2line; do
		path=$(command -v $name) || {
			skip "lines: $name" "no $name"
			continue
		}
		path=$(tool $name "exec $path \"\$@\"")
		with_path "$path"
		same "lines: $name: status" "5 met none" "$status $out"
		has_lines "lines: $name: the line, and what is inlined there"
		rm "$work/bin/$name"
	done
	guarded '' "$edges/children"
	says "lines: none by LD_PRELOAD alone" '^0 make_buffer  children$' "$(frames "$err" | head -n 1)"
	guarded symbolize=1:log_format=json "$edges/children"
	says_not "lines: JSON is as it was" '"lines":\[\{' "$err"
	says_not "lines: the C library's start is left out" '__libc_start|_start|libc\.so' "$(with_path "$real"; frames "$err")"
}

check_programs() {
	local how
	for how in list wait handler ignore reaper forks close layer full; do
		with_path "$real" $how on_finding="\"cat >$work/found; true\""
		same "programs: $how: as alone" "5 met none" "$status $out"
		same "programs: $how: a report" 1 "$(final_reports "$err")"
		[ ! -s "$work/guarded/data" ]
		judge "programs: $how: its files are its own" $?
		case $how in close | full) continue ;; esac # GMOD itself may not get to read the program's file there
		has_lines "programs: $how: lines"
		same "programs: $how: the command has the finding" 1 "$(grep -c '"event":"finding"' "$work/found")"
		same "programs: $how: which succeeds" 0 "$(closing 'commands? of on_finding failed' "$err")"
		rm -f "$work/found"
	done
	with_path "$real" exec on_finding='sleep 1.5'
	same "programs: exec: as alone" "5 met none" "$status $out"
	with_path "$real" sandbox
	same "programs: sandbox: as alone" "5 met none" "$status $out"
	offsets "programs: sandbox" 'children: the symbolizer failed.*, or cannot be started'
	guarded "symbolize=1:log_path=$work/daemon.log" "$edges/children" daemon
	for _ in {1..100}; do
		grep -q SUMMARY "$work/daemon.log" 2>/dev/null && break
		sleep 0.1
	done
	err=$(cat "$work/daemon.log")
	has_lines "programs: daemon: lines"
}

check_tools() {
	local began
	with_path "$(no_tool)"
	offsets "tools: none" '.*: neither llvm-symbolizer nor addr2line is in PATH'
	with_path ''
	offsets "tools: an empty PATH" '.*: neither llvm-symbolizer nor addr2line is in PATH'
	with_path "$(tool addr2line 'kill -9 $$')"
	offsets "tools: killed" 'children: its file has no debug information'
	with_path "$(tool addr2line 'i=0; while [ $i -lt 9999 ]; do echo "a:b $i"; echo "x:"; i=$((i + 1)); done')"
	offsets "tools: garbage" 'children: the symbolizer failed'
	with_path "$(tool addr2line 'exit 0')"
	offsets "tools: silent" 'children: its file has no debug information'
	began=$(date +%s%N)
	with_path "$(tool addr2line 'exec sleep 100')"
	offsets "tools: slow" 'children: the symbolizer failed, takes too long'
	same "tools: slow: as alone" "5 met none" "$status $out"
	at_most "tools: slow: the end waits for a second" 4000 $((($(date +%s%N) - began) / 1000000))
	with_path "$(tool addr2line "sleep 2$$ & sleep 2$$")" '' on_finding="sleep 2$$; sleep 2$$"
	same "tools: all that they have started are killed with them" '' "$(pgrep -fx "sleep 2$$")"
	with_path "$(tool addr2line 'sleep 100 & sleep 100')" reaper on_finding='sleep 100 | sleep 100'
	same "tools: orphans of those that are killed are nobody's" "5 met none" "$status $out"
	strip -o "$work/children" "$edges/children"
	guarded symbolize=1 "$work/children"
	offsets "tools: stripped" 'children: its file has no debug information'
}

# What is found is in the log before a tool that takes long has answered.
check_killed() {
	with_path "$(tool addr2line "exec sleep 2$$")" killed
	says "killed: the report is in the log" '^==[0-9]+==GMOD: heap-buffer-overflow: .* \[finding 1, provisional, a final report follows\]$' "$err"
	says "killed: as a whole" '^    next step: ' "$err"
	for _ in {1..50}; do
		pgrep -fx "sleep 2$$" >/dev/null || break
		sleep 0.1
	done
	same "killed: with it what it has started" '' "$(pgrep -fx "sleep 2$$")"
}

# No call of the program waits for the tool.
check_many() {
	local plain slow
	with_path "$(no_tool)" many
	plain=${out%% *}
	with_path "$(tool addr2line 'exec sleep 100')" many
	slow=${out%% *}
	at_most "many: the calls take no longer beside a tool that hangs" $((plain * 2 + 200)) "$slow"
	same "many: each is reported" "5 100" "$status $(final_reports "$err")"
	same "many: said once" 1 "$(grep -c 'no lines of the host code' <<<"$err")"
	with_path "$real" many
	at_most "many: nor beside one that works" $((plain * 2 + 200)) "${out%% *}"
	same "many: each is reported there, too" 100 "$(final_reports "$err")"
	at_least "many: some with their lines, as far as there is time" 3 "$(grep -cE '^      #2 site_[0-9]+  children.*:[0-9]+$' <<<"$err")"
}

check_command() {
	guarded log_format=json:verbosity=1:on_finding='"cat >>$FOUND"' env "FOUND=$work/found" "$edges/children"
	same "command: it has what the log has" "$(grep -F '"event":"finding"' <<<"$err")" "$(cat "$work/found")"
	json "command: valid" 'finding=1' "$(cat "$work/found")"
	rm "$work/found"
	with_path "$(no_tool)" many on_finding="\"echo >>$work/found\""
	at_most "command: of 100 findings one a second" $((${out%% *} / 1000 + 2)) "$(wc -l <"$work/found")"
	with_path "$real" '' on_finding='test -z "$LD_PRELOAD"'
	same "command: GMOD is not in it" "5 0" "$status $(closing 'commands? of on_finding failed' "$err")"
	with_path "$real" '' on_finding='exit 3'
	same "command: one that fails is counted" "5 1" "$status $(closing 'command of on_finding failed' "$err")"
	says "command: and told" ': the command of on_finding ended with status 3$' "$err"
	with_path "$real" '' on_finding='"echo more; ls /nowhere >&2; echo so, $(wc -l) line; echo; exit 4"'
	says "command: with the last line that it printed" ': the command of on_finding ended with status 4: so, 1 line$' "$err"
	with_path "$real" '' on_finding='ls /nowhere; echo >&2 lost; exit 2'
	says "command: to stderr, too" ': the command of on_finding ended with status 2: lost$' "$err"
	with_path "$real" '' on_finding='echo said'
	says_not "command: one that succeeds is not told" 'on_finding|said' "$err"
	with_path "$real" '' on_finding='sleep 100'
	same "command: one that hangs is, too" "5 1" "$status $(closing 'command of on_finding failed' "$err")"
	says "command: which is told" ': the command of on_finding was killed, as one that takes 3 s is$' "$err"
	guarded "on_finding=\"cat >$work/found\":halt_on_error=1" "$edges/children"
	same "command: before the end by halt_on_error" "86 1" "$status $(grep -c '"status":"final"' "$work/found")"
}

run_checks "$@"
