#!/usr/bin/env bash
# gmod top: the processes whose counts lie in files of stats_path, a line each.
# shellcheck disable=SC2317 # outcome runs it
. "$(dirname "$0")/testlib"
needs_python3

top_() {
	scripts/gmod top --once "$@"
}

# counts FILE PID RANK GUARDED OWN_CPU RUN_MS OVERFLOWS ENDED: as the library writes them.
counts() {
	local labels
	labels="pid=\"$2\",host=\"$(uname -n)\",rank=\"$3\""
	cat >"$1" <<-TEXT
		# TYPE gmod_buffers_guarded_total counter
		gmod_buffers_guarded_total{$labels} $2
		# TYPE gmod_run_ms_total counter
		gmod_run_ms_total{$labels} $6
		gmod_own_cpu_ms_total{$labels} $5
		gmod_own_hooks_ms_total{$labels} $5
		# TYPE gmod_findings_total counter
		gmod_findings_total{$labels,class="heap-buffer-overflow"} $7
		gmod_findings_total{$labels,class="leak"} 0
		# TYPE gmod_ended gauge
		gmod_ended{$labels} $8
		# TYPE gmod_guarded_ratio gauge
		gmod_guarded_ratio{$labels,kind="all"} $4
		gmod_guarded_ratio{$labels,kind="device"} 0.111
	TEXT
}

mkdir "$work/stats"
counts "$work/stats/10.prom" $$ 10 0.987 30 6000 3 0
counts "$work/stats/9.prom" 999999999 9 1.000 0 6000 0 1
echo "something else" >"$work/stats/notes.txt"
outcome top_ "$work/stats"
same "it succeeds" "0 " "$status $err"
same "a line for each process, and a heading" 3 "$(wc -l <<<"$out")"
says "the heading" '^HOST +RANK PID +STATE +FOUND +GUARDED +BUFFERS +OWN COST +AGE +BY CLASS$' "$out"
says "one that has ended is behind it" "^[^ ]+ +9 +999999999 ended +0 +100\.0 % +999999999 +0\.00 % +[0-9]+s +\$" "$(sed -n 3p <<<"$out")"
says "one that runs is first, with findings" "^[^ ]+ +10 +$$ +runs +3 +98\.7 % +$$ +1\.00 % +[0-9]+s +heap-buffer-overflow 3\$" "$(sed -n 2p <<<"$out")"
outcome top_ "$work/stats/9.prom"
same "one file" 2 "$(wc -l <<<"$out")"

# What a program under GMOD writes itself.
outcome env LD_LIBRARY_PATH="$build/sim" GMOD_TEST_KERNELS="$build/demo/kernels.so" \
	scripts/gmod "--stats_path=$work/real.%p.prom" "$build/demo/demo"
outcome top_ "$work"/real.*.prom
counts "$work/stats/killed.prom" 999999998 8 1.000 0 6000 0 0
outcome top_ "$work/stats/killed.prom"
says "one that is gone, and has not said that it ends" "^[^ ]+ +8 +999999998 killed[?] +0 " "$out"
sed "s/host=\"[^\"]*\"/host=\"elsewhere\"/" "$work/stats/9.prom" >"$work/elsewhere.prom"
outcome top_ "$work/elsewhere.prom"
says "one of another host that has said that it ends" '^elsewhere +9 +999999999 ended +0 ' "$out"
outcome top_ "$work"/real.*.prom
says "a real process" "^[^ ]+ +- +[0-9]+ +ended +1 +100\.0 % +3 +.* heap-buffer-overflow 1\$" "$out"

mkdir "$work/empty"
outcome top_ "$work/empty"
same "nobody has written: status 1" 1 "$status"
one_line "and a line that says how to" "$out"
outcome top_ "$work/stats/notes.txt"
says "another file" 'notes\.txt is no file of stats_path$' "$out"
outcome top_ "$work/absent"
says "no file" 'absent: not there yet$' "$out"
expect "no interval" 2 scripts/gmod top --interval 0
printf '# TYPE gmod_x counter\ngmod_buffers_guarded_total{pid="1",host="a\033[2Jb"} 1\n' >"$work/odd.prom"
outcome top_ "$work/odd.prom"
says_not "no terminal is moved" $'\033' "$out"

# Refreshed until it is interrupted.
timeout -s INT 3 scripts/gmod top --interval 0.2 "$work/stats" >"$work/lines" 2>&1
[ "$(grep -c '^HOST' "$work/lines")" -ge 2 ]
judge "it looks again" $? "$(cat "$work/lines")"

# A terminal that has not said how large it is.
outcome python3 -c 'import os, pty, sys; pty.spawn(sys.argv[1:])' timeout -s INT 2 scripts/gmod top "$work/stats" </dev/null
says "a terminal without a size" '^HOST .* AGE ' "$(tr -d '\033\r' <<<"$out" | sed 's/\[H\[J//')"

# A subcommand's name wins over a program's.
outcome scripts/gmod --explain-env -- top
says "gmod -- top is the program" 'LD_PRELOAD=' "$out"
finish
