#!/usr/bin/env bash
# Signs of life: the line at the start, the closing line however a process ends, and the file of stats_path.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# sample NAME FILE [LABEL]: the value of a sample; "none" where there is no such one.
sample() {
	sed -nE "s/^gmod_$1\{pid=\"[0-9]+\",host=\"[^\"]+\"(,rank=\"[0-9]+\")?${3:+,$3}\} ([0-9.]+)$/\2/p" "$2" 2>/dev/null | grep . || echo none
}

# serve SIGNAL OPTIONS [HOW]: the service under GMOD, sent the signal when it is ready and its finding is in the file.
serve() {
	local signal=$1 options=$2 tries pid
	shift 2
	err=
	mkdir -p "$work/guarded"
	rm -f "$work/guarded/stats"
	(cd "$work/guarded" && LD_PRELOAD=$gmod GMOD_OPTIONS="verbosity=1:stats_path=stats:$options" exec "$edges/service" "$@") \
		>"$work/guarded.out" 2>"$work/guarded.err" &
	pid=$!
	for ((tries = 0; tries < 500; tries++)); do
		[ -s "$work/guarded.out" ] && [ "$(sample findings_total "$work/guarded/stats" 'class="heap-buffer-overflow"')" = 1 ] && break
		sleep 0.02
	done
	at_most "service $*: its finding is in the file at once" 250 "$tries"
	kill -s "$signal" "$pid"
	[ "${1-}" != ignore ] || { sleep 0.3 && kill -s KILL "$pid"; }
	{ wait "$pid"; } 2>/dev/null
	status=$?
	err=$(cat "$work/guarded.err")
}

# Ended by a signal as it would be natively, and all is there.
check_service() {
	local signal
	for signal in TERM HUP USR1; do
		serve "$signal" ''
		same "service, SIG$signal: status, reports, closing lines" "$((128 + $(kill -l "$signal"))) 1 1" \
			"$status $(final_reports "$err") $(grep -c '==GMOD: guarded ' <<<"$err")"
		says "service, SIG$signal: the closing line comes last" '==GMOD: guarded 1 of 1 buffer,.*; 1 finding ' "$(tail -n 1 <<<"$err")"
		same "service, SIG$signal: the file says that it is the end" 1 "$(sample ended "$work/guarded/stats")"
		same "service, SIG$signal: the file has the end" 1.000 "$(sample guarded_ratio "$work/guarded/stats" 'kind="all"')"
	done
	serve TERM '' exit
	same "service, its own handler: status, closing lines" "7 1" "$status $(grep -c '==GMOD: guarded ' <<<"$err")"
	serve TERM '' ignore
	same "service, the signal ignored, then killed: status, reports" "137 1" "$status $(final_reports "$err")"
	same "service, killed: the file does not say that it is the end" 0 "$(sample ended "$work/guarded/stats")"
	serve TERM signals=0
	same "service, signals=0: at once" "143 0" "$status $(grep -c '==GMOD: guarded ' <<<"$err")"
	serve TERM log_format=json
	says "service, in JSON" '"event":"summary".*"findings":1,' "$(tail -n 1 <<<"$err")"
}

# A driver that does not answer: what was seen before is said.
check_stuck_driver() {
	guarded verbosity=1 env SIM_STALL=cuMemcpyBatchAsync_v2:1:4000 "$edges/ends" TERM
	same "stuck_driver: status, closing lines" "143 1" "$status $(grep -c '==GMOD: guarded ' <<<"$err")"
}

# Where no buffer is guarded there is a closing line all the same.
check_only_mappings() {
	guarded verbosity=1 "$edges/service" mapping
	same "only_mappings: status, closing lines" "143 1" "$status $(grep -c '==GMOD: guarded 0 ' <<<"$err")"
}

check_start_line() {
	guarded verbosity=1 "$programs/good_axpy"
	says "start_line: it comes first" '^==[0-9]+==GMOD: started: version [0-9.]+, [0-9]+ hooks armed$' \
		"$(head -n 1 <<<"$err")"
	guarded "verbosity=1:log_path=log" "$programs/good_axpy"
	same "start_line: in the log" 1 "$(grep -c "==GMOD: started: " "$work/guarded/log")"
	guarded "" "$programs/good_axpy"
	same "start_line: none unless it is asked for" '' "$err"
}

# Every number of the closing line's JSON, by the same name, in lines that Prometheus reads.
check_stats() {
	local key value missing=
	guarded "verbosity=1:log_format=json:max_overhead=100:stats_path=$work/%r.prom" env RANK=3 "$programs/bad_pool_one_stream"
	while IFS=: read -r key value; do
		[ "$(sample "${key}_total" "$work/3.prom")" = "$value" ] || missing+=" $key=$value"
	done < <(grep '"event":"summary"' <<<"$err" | sed 's/,"bytes_asked".*//; s/.*"version":"[^"]*",//' | tr -d '"' | tr , '\n')
	same "stats: each counter" '' "${missing:+$missing in $(cat "$work/3.prom")}"
	guarded "stats_path=$work/end" "$programs/good_allocated_while_held_up"
	same "stats: the end is in it" 1200 "$(sample buffers_guarded_total "$work/end")"
	says "stats: there are some" '^gmod_bytes_guarded_total' "$(cat "$work/3.prom")"
	same "stats: findings by class" 1 "$(sample findings_total "$work/3.prom" 'class="heap-buffer-overflow"')"
	says "stats: shares" '^[01][.][0-9]{3} [01][.][0-9]{3}$' "$(sample guarded_ratio "$work/3.prom" 'kind="stream-order"') \
$(sample guarded_ratio "$work/3.prom" 'kind="all"')"
	says "stats: processes of containers are told apart" "^gmod_sweeps_total\{pid=\"[0-9]+\",host=\"$(uname -n)\",rank=\"3\"\}" \
		"$(cat "$work/3.prom")"
	same "stats: every line is a sample or says the type of one" '' "$(grep -vE \
		'^(# TYPE gmod_[a-z_]+ (counter|gauge)|gmod_[a-z_]+\{([a-z]+="[A-Za-z0-9.-]+",?)+\} [0-9]+(\.[0-9]+)?)$' "$work/3.prom")"
	same "stats: nothing is left aside" "$work/3.prom" "$(echo "$work"/3.prom*)"
}

# A reader finds it whole, whenever it looks.
check_stats_whole() {
	local torn=0 reads=0 err=
	(guarded "stats_path=$work/stats:max_reports=1" bash -c "for i in 1 2 3 4; do '$edges/crowd'; done") &
	while kill -0 $! 2>/dev/null; do
		[ ! -e "$work/stats" ] || { reads=$((reads + 1)); tail -n 1 "$work/stats" | grep -q '^gmod_guarded_ratio.*[0-9]$' || torn=$((torn + 1)); }
	done
	wait
	at_least "stats_whole: it is read" 3 "$reads"
	same "stats_whole: never torn" 0 "$torn"
}

# refused NAME PATTERN PATH [COMMAND...]: the file cannot be, which is said once, and the program runs as alone.
refused() {
	local command=("${@:4}")
	guarded "verbosity=1:stats_path=$3" "${command[@]:-$programs/bad_then_return}"
	ended "$1: as alone" 5 1
	at_least "$1: it is counted" 1 "$(closing degraded "$err")"
	same "$1: it is said once" 1 "$(grep -cE "cannot write stats_path .*: $2" <<<"$err")"
}

check_stats_refused() {
	refused "stats_refused, a directory" 'it is no regular file' "$work"
	refused "stats_refused, no directory" 'No such file' "$work/none/stats"
	ln -s "$work/precious" "$work/link"
	refused "stats_refused, a link" 'it is a symbolic link' "$work/link"
	refused "stats_refused, a device" 'it is no regular file' /dev/null
	[ -c /dev/null ]
	judge "stats_refused, a device: it stays" $?
	mkdir "$work/gone"
	refused "stats_refused, a directory that goes" 'No such file' "$work/gone/stats" bash -c "rmdir '$work/gone'; '$programs/bad_then_return'"
	# As a disk that is full: the last one that was whole stays.
	echo old >"$work/stats"
	refused "stats_refused, no room" 'File too large' "$work/stats" bash -c "set -o pipefail; { '$edges/size_limit' 2>&1 >&3 | cat >&2; } 3>&1"
	says "stats_refused, no room: the last one stays" '^(old|(# TYPE )?gmod_guarded_ratio.*)$' "$(tail -n 1 "$work/stats")"
	same "stats_refused, no room: nothing is left aside" "$work/stats" "$(echo "$work"/stats*)"
}

# The first line of a report stands out on a terminal, and nowhere else.
check_bold() {
	local bold=$'\e[1m==' run="LD_PRELOAD=$gmod '$programs/bad_then_return'"
	command -v script >/dev/null || {
		skip bold "no script"
		return
	}
	alone env TERM=xterm script -qec "$run" /dev/null
	same "bold: the first line of each" "$(grep -c '==GMOD: heap' <<<"$out")" "$(grep -F "$bold" <<<"$out" | grep -c $'\e\\[0m')"
	says "bold: there is one" 'GMOD: heap' "$out"
	alone env TERM=xterm NO_COLOR=1 script -qec "$run" /dev/null
	same "bold: not with NO_COLOR" 0 "$(grep -c $'\e' <<<"$out")"
	alone env TERM=xterm script -qec "$run 2>&1 | cat" /dev/null
	same "bold: nor in a pipe" 0 "$(grep -c $'\e' <<<"$out")"
	same "bold: where the report is" 1 "$(final_reports "$out")"
}

run_checks "$@"
