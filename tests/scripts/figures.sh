#!/usr/bin/env bash
# The bench's harness: what becomes of runs, also of those that fail or are cut off, and the report. Over stand-ins, which
# measure nothing: no result of this goes to bench/results.
. "$(dirname "$0")/testlib"
needs_bench_modules
committed=$(find bench/results -type f -exec md5sum {} + 2>/dev/null | sort)

# ---- what GMOD says ----

python "the guarded share: device memory, pools, and what the program says that it asked for" <<'PYTHON'
from processes import share
def of(guarded, whole, host, asked=0):
    return share({"guarded": guarded, "whole": whole, "host": host}, asked)
assert of(0, 0, 0) is None and of(950, 1000, 0) == 950 and of(950, 1000, 500) == 950
assert of(0, 0, 80) == 1000 and of(0, 0, 80, 100) == 800 and of(100, 100, 80, 200) == 900 and of(0, 0, 0, 10) == 0
PYTHON

# ---- the runner ----

results=$work/results

# A program that takes $MS; under GMOD $SLOWER, and then it says what GMOD would, $SUMMARY.
cat >"$work/job" <<'JOB'
#!/bin/sh
log=$(printf '%s' "$GMOD_OPTIONS" | sed -n 's/.*log_path=\([^:]*\).*/\1/p')
ms=${MS:-100}
if [ "$log" ]; then
	ms=${SLOWER:-100.2}
	printf '{"event":"summary","bytes_guarded":%s,"bytes_unguarded":%s,"bytes_asked":0,"bytes_uncovered":0,"bytes_pinned":0,"findings":%s,"degraded":%s,"bytes_ordered_guarded":%s,"buffers_late":1}\n' \
		${SUMMARY:-1000 0 0 0} ${ORDERED:-0} >"$log"
	echo '{"event":"note","text":"degraded: cuOne failed"}' >>"$log"
fi
echo "case=job ms=$ms rounds=${1:-50} allocations=4 $SAYS"
JOB
cat >"$work/gone" <<'JOB'
#!/bin/sh
[ -z "$GMOD_OPTIONS" ] || { echo no more >&2; exit 1; }
exec "${0%/*}/job"
JOB
chmod +x "$work/job" "$work/gone"

# figures PLAN ARGUMENT...: the runner over a table of its own, in $results.
figures() {
	printf '%s' "$1" >"$work/plan.json"
	shift
	outcome python3 bench/figures.py --plan "$work/plan.json" --build "$build" --results "$results" \
		--device "${device:-1 x NVIDIA Test}" --commit "${commit:-0123456789}" "$@"
}

# query EXPRESSION: of the newest result, r; rows by name and variant in `row`.
query() {
	printf '%s\0' "$1" >&7
	IFS= read -r -d '' answer <&8
	echo "$answer"
}

# One Python answers all of them.
coproc python3 -u -c '
import glob, json, os, sys
asked = iter(lambda: sys.stdin.buffer.read(1), b"")
expression = b""
for byte in asked:
    if byte != b"\0":
        expression += byte
        continue
    try:
        one = max(glob.glob(sys.argv[1] + "/*.json"), key=lambda f: os.stat(f).st_mtime_ns)
        r = json.load(open(one))
        row = {(x["name"], x["variant"]): x for x in r["results"]}
        out = eval("(lambda *a, sep=\" \": sep.join(map(str, a)))(" + expression.decode() + ")", {"r": r, "row": row})
    except Exception as e:
        out = repr(e)
    expression = b""
    sys.stdout.write(out + "\0")
' "$results"
# A subshell has the coprocess by these.
exec 7>&"${COPROC[1]}" 8<&"${COPROC[0]}"

job="\"commands\": [[\"$work/job\"]]"
ten=""
for i in 0 1 2 3 4 5 6 7 8 9; do
	ten+="${ten:+, }{\"group\": \"coarse\", \"name\": \"p$i\", $job}"
done
figures "{\"coarse\": {\"seconds\": 60, \"cases\": [$ten]}}" coarse
same "ten programs: exit status" 0 "$status"
says "says what came of it, and where it is" '^bench: 11 pass: .*/latest[.]md$' "$out"
says "a line of progress has the time left" '^bench: coarse: p[0-9].*; at most 0:[0-9][0-9] left' "$err"
same "eight pairs, the warm-up dropped" "8 8 1.002" "$(query "row['p3', 'gmod']['pairs'], len(row['p3', 'gmod']['samples']['native']), round(row['p3', 'gmod']['ratio_median'], 9)")"
same "as planned, from the noise and the width" "8 0.0 0.5" "$(query "*(row['p3', 'gmod'][k] for k in ('planned', 'planned_noise_percent', 'planned_width_percent'))")"
same "the rows have what readers look for" True "$(query "all(k in x for x in r['results'] for k in ('group', 'name', 'variant', 'ratio_median', 'ratio_low', 'ratio_high', 'unit', 'native_median', 'guarded_permille'))")"
same "and how many buffers had their canaries late" 8 "$(query "row['p3', 'gmod']['late']")"
same "A against A has a row" "1.0 1.0" "$(query "row['p3', 'again']['ratio_low'], row['p3', 'again']['ratio_high']")"
same "all pass" True "$(query "all(v['verdict'] == 'pass' for v in r['verdicts']) and len(r['verdicts']) == 11")"
commit=later figures "{\"x\": {\"seconds\": 60, \"cases\": []}}" x
same "a part of another commit joins it" "0123456789 later" "$(query "r['parts']['coarse']['commit'], r['parts']['x']['commit']")"
same "and the others stay" True "$(query "('p3', 'gmod') in row")"
same "in one file" 1 "$(find "$results" -name '*.json' | wc -l)"
says "whose page says which is which" '^- coarse: 20[0-9-]*, commit 0123456789, 1 x NVIDIA Test, ' "$(cat "$results/latest.md")"
says "of each" '^- x: 20[0-9-]*, commit later, ' "$(cat "$results/latest.md")"

# Another part joins at the same commit, and only there.
plan="{\"x\": {\"seconds\": 60, \"cases\": [
	{\"group\": \"g\", \"name\": \"says\", $job, \"pairs\": 2, \"environment\": {\"SAYS\":
		\"quartile_ms=90 cpu_ms=40 memory_bytes=1048576 tokens=8 monitor_percent=1.15 each_ms=3 each_99_ms=7\"}},
	{\"group\": \"g\", \"name\": \"turns\", $job, \"pairs\": 2, \"turns\": true},
	{\"group\": \"g\", \"name\": \"turns fail\", \"commands\": [[\"$work/gone\"]], \"turns\": true},
	{\"group\": \"g\", \"name\": \"busy\", $job, \"pairs\": 2, \"environment\": {\"SAYS\": \"monitor_percent=1.4\"}},
	{\"group\": \"g\", \"name\": \"nan\", $job, \"environment\": {\"MS\": \"nan\"}},
	{\"group\": \"g\", \"name\": \"two\", \"commands\": [[\"$work/job\"], [\"$work/job\"]], \"key\": null, \"pairs\": 2},
	{\"group\": \"g\", \"name\": \"tenth\", $job, \"pairs\": 2, \"per\": \"allocations\"},
	{\"group\": \"g\", \"name\": \"fails\", \"commands\": [[\"sh\", \"-c\", \"echo FAIL cudaMalloc: no; exit 1\"]]},
	{\"group\": \"g\", \"name\": \"absent\", \"commands\": [[\"$work/absent\"]]},
	{\"group\": \"g\", \"name\": \"hangs\", \"commands\": [[\"sleep\", \"30\"]], \"limit\": 0.3},
	{\"group\": \"g\", \"name\": \"skips\", \"commands\": [[\"sh\", \"-c\", \"echo no GPU; exit 77\"]]},
	{\"group\": \"g\", \"name\": \"silent\", \"commands\": [[\"true\"]]},
	{\"group\": \"g\", \"name\": \"unsaid\", \"commands\": [[\"echo\", \"ms=5\"]]},
	{\"group\": \"g\", \"name\": \"module\", $job, \"needs\": \"no_such_module\"},
	{\"group\": \"g\", \"name\": \"dies\", \"commands\": [[\"sh\", \"-c\", \"echo ms=4; echo torn >&2; exit 4\"]]},
	{\"group\": \"g\", \"name\": \"little\", $job, \"environment\": {\"SUMMARY\": \"949 51 0 0\"}, \"pairs\": 1},
	{\"group\": \"g\", \"name\": \"ordered\", $job, \"environment\": {\"SUMMARY\": \"100 50 0 0\", \"ORDERED\": \"850\"}, \"pairs\": 1},
	{\"group\": \"g\", \"name\": \"enough\", $job, \"environment\": {\"SUMMARY\": \"950 50 0 0\"}, \"pairs\": 1},
	{\"group\": \"g\", \"name\": \"finds\", $job, \"environment\": {\"SUMMARY\": \"1000 0 1 0\"}},
	{\"group\": \"g\", \"name\": \"planted\", $job, \"environment\": {\"SUMMARY\": \"1000 0 1 0\"}, \"planted\": true, \"pairs\": 1},
	{\"group\": \"g\", \"name\": \"degrades\", $job, \"environment\": {\"SUMMARY\": \"1000 0 0 2\"}}]}}"
figures "$plan" x
same "with failures: exit status" 1 "$status"
same "the other part is kept" True "$(query "('p3', 'gmod') in row and len(r['parts']) == 2")"
same "in one file" 1 "$(find "$results" -name '*.json' | wc -l)"
same "what a run says beside its figure is kept" "[90.0, 90.0] [40.0, 40.0]" "$(query "row['says', 'gmod']['beside']['native']['quartile'], row['says', 'gmod']['beside']['gmod']['cpu_ms']")"
same "the lower quartile has a ratio of its own" "1.0" "$(query "row['says', 'gmod']['quartile_median']")"
same "what does not say its CPU time has that of its process" True "$(query "0 < row['two', 'gmod']['beside']['gmod']['cpu_ms'][1] < 10000")"
says "the report has what jobs say" '^\| g \| says \| 1[.]00 \| 1[.]00 \| 80[.]0 \| 79[.]8 \| 3[.]00 \| 3[.]00 \| 7[.]00 \| 7[.]00 \| 1[.]15 \|$' "$(cat "$results/latest.md")"
says "and the CPU time of both" '^\| g \| says \| 100 \| 100 \| 40[.]0 \| 40[.]0 \| [+]0[.]00 \|$' "$(cat "$results/latest.md")"
same "in turns: each has its own sample" "2 100.0 100.2" "$(query "row['turns', 'gmod']['pairs'], row['turns', 'gmod']['native_median'], row['turns', 'gmod']['median']")"
same "and what one of them says against itself" "failed no more" "$(query "row['turns fail', 'gmod']['status'], row['turns fail', 'gmod']['error'].split(': ')[-1]")"
same "side by side: a sample is the time until both end" True "$(query "0 < row['two', 'gmod']['native_median'] < 10000")"
same "what an allocation takes" "25000.0" "$(query "row['tenth', 'gmod']['us_per_allocations']['native']")"
# row NAME STATUS ERROR
row() {
	local got
	got=$(query "row['$1', 'gmod']['status'], row['$1', 'gmod']['error'], row['$1', 'gmod']['ratio_median'] is None, sep=': '")
	says "$1" "^$2: .*$3.*: True$" "$got"
}
row fails failed 'exit status 1: FAIL cudaMalloc: no'
row absent failed 'absent: No such file'
row hangs 'timed out' 'not done after 0.3 s'
row skips skipped 'no GPU'
row busy failed 'thread takes 1.40 % of a core'
row nan failed 'it says no ms=NUMBER'
row silent failed 'it says no ms=NUMBER'
row unsaid failed "no closing line"
row module skipped 'python3 has no no_such_module'
row dies failed 'exit status 4: torn'
row little 'no result' '94.9 % of the bytes guarded'
row finds failed '1 findings, 0 degraded'
row degrades failed '0 findings, 2 degraded; degraded: cuOne failed'
for name in enough planted ordered; do
	same "$name" ok "$(query "row['$name', 'gmod']['status']")"
done
says "failures are said at the end" '^FAIL g: fails, gmod: exit status 1' "$out"
says_not "what was skipped is none" '^FAIL g: (skips|module|little)' "$out"

commit=abcdefabcdef figures "{\"x\": {\"seconds\": 60, \"cases\": [{\"group\": \"g\", \"name\": \"a\", $job, \"pairs\": 1}]}}" x
same "a part measured anew takes its former one's place" "['a'] abcdefabcdef" \
	"$(query "[x['name'] for x in r['results'] if x['part'] == 'x' and x['variant'] == 'gmod'], r['parts']['x']['commit']")"
same "with its page" 1 "$(grep -c '^- x: .*, commit abcdefabcdef, ' "$results/latest.md")"
device='2 x NVIDIA Test' figures "{\"x\": {\"seconds\": 60, \"cases\": [{\"group\": \"g\", \"name\": \"a\", $job, \"pairs\": 1}]}}" x
same "of another device, too" "2 x NVIDIA Test" "$(query "r['parts']['x']['device']")"
figures "{\"x\": {\"seconds\": 60, \"cases\": [{\"group\": \"g\", \"name\": \"a\", $job, \"pairs\": 1}]}}" --quick x
same "a quick run has a file of its own" 1 "$(find "$results" -name '*-test-0123456-quick.json' | wc -l)"
same "which says so" True "$(query "r['quick']")"
commit='abcdefabcdef with changes' figures '{"coarse": {"seconds": 60, "cases": []}}' coarse
same "and one of a tree with changes" 1 "$(find "$results" -name '*-test-abcdefa-changed.json' | wc -l)"
rm "$results"/*-quick.* "$results"/*-changed.*
commit=none figures '{"coarse": {"seconds": 60, "cases": []}}' coarse
same "no plot is left of what there is no more" 0 "$(find "$results" -name '*.svg' | wc -l)"
figures '{"x": {"seconds": 60, "cases": []}}' y
same "an unknown part is an error" 2 "$status"
outcome python3 bench/figures.py --plan "$work/plan.json" --device d --commit c x
same "nor does a result of a test's plan go to bench/results" 2 "$status"
outcome python3 bench/figures.py --device '' --commit c coarse
same "and there is none without a device" 2 "$status"

# A process at a time, both orders in turn, and each with its buffers elsewhere.
cat >"$work/order" <<'JOB'
#!/bin/sh
exec 9>"$SEEN.lock"
flock -n 9 || echo two at a time >>"$SEEN"
echo "${GMOD_OPTIONS:+gmod}$MARK $BENCH_PAD_MIB" >>"$SEEN"
exec "${0%/*}/job"
JOB
chmod +x "$work/order"
ordered="{\"coarse\": {\"seconds\": 60, \"cases\": [{\"group\": \"g\", \"name\": \"u\", \"commands\": [[\"$work/order\"]],
	\"environment\": {\"SEEN\": \"$work/seen\"}, \"with_gmod\": {\"MARK\": \"!\"}, \"pairs\": 4}]}}"
figures "$ordered" coarse
same "a process at a time, both orders in turn, after a warm-up, and one environment for GMOD" "n ng gn ng gn" \
	"$(sed -E 's/^gmod! .*/g/; s/^ .*/n/' "$work/seen" | tr -d '\n' | sed -E 's/^(.)(..)(..)(..)(..)/\1 \2 \3 \4 \5/')"
[ "$(sort -u "$work/seen" | wc -l)" -gt 6 ]
judge "where buffers lie is drawn" $? "$(cat "$work/seen")"
seen=$(cat "$work/seen")
rm "$work/seen"
figures "$ordered" coarse
same "the same in each bench" "$seen" "$(cat "$work/seen")"

# Without so many pairs as planned there is no verdict, and never more than that: --more goes on.
cat >"$work/noisy" <<'JOB'
#!/bin/sh
sleep 0.2
[ "$GMOD_OPTIONS" ] || echo x >>"${0%/*}/seen"
MS=100.$(($(wc -l <"${0%/*}/seen") % 2 * 6)) exec "${0%/*}/job"
JOB
chmod +x "$work/noisy"
plan_of() {
	printf '{"coarse": {"seconds": %s, "cases": [
		{"group": "coarse", "name": "noisy", "commands": [["%s"]]},
		{"group": "coarse", "name": "p0", "commands": [["%s"]]},
		{"group": "coarse", "name": "degrades", "commands": [["%s"]], "environment": {"SUMMARY": "1000 0 0 2"}}]}}' \
		"$1" "$work/noisy" "$work/job" "$work/job"
}
verdict_of() {
	query "*(f\"{v['verdict']}: {v['why']}\" for v in r['verdicts'] if v['name'] == '$1')"
}
figures "$(plan_of 2)" coarse
few=$(query "row['noisy', 'gmod']['pairs']")
[ "$few" -lt 10 ]
judge "time runs out before all pairs are there" $? "$few"
wanted=$([ "$few" -lt 8 ] && echo 8 || echo 10)
same "and that is open, however good it looks" "open: $few of $wanted pairs" "$(verdict_of noisy)"
figures "$(plan_of 60)" --more coarse
same "--more: until there are as many as planned" "10 8" "$(query "row['noisy', 'gmod']['pairs'], row['p0', 'gmod']['pairs']")"
same "by the noise of the first eight" "10 0.44" "$(query "row['noisy', 'gmod']['planned'], round(row['noisy', 'gmod']['planned_noise_percent'], 2)")"
says "the report has both numbers" "\| 10 of 10 \|\$" "$(cat "$results"/latest.md)"
same "then there is a verdict" "pass: None, pass: None" "$(verdict_of noisy), $(verdict_of p0)"
same "what failed is tried anew" failed "$(query "row['degrades', 'gmod']['status']")"
same "its seconds add up" True "$(query "r['parts']['coarse']['seconds'] >= 5")"
figures "$(plan_of 60)" --more coarse
same "and no more than that" "10 8" "$(query "row['noisy', 'gmod']['pairs'], row['p0', 'gmod']['pairs']")"
figures "$(plan_of 2)" coarse
[ "$(query "row['noisy', 'gmod']['pairs']")" -lt 10 ]
judge "without --more all is measured anew" $? "$(query "row['noisy', 'gmod']['pairs']")"

commit='0123456789 with changes' figures "$(plan_of 2)" --more coarse
same "--more: a tree with changes is at no commit" 2 "$status"
says "and that is said" 'this tree is not at one' "$err"

# Time that runs out leaves what there is.
figures "{\"x\": {\"seconds\": 1, \"cases\": [{\"group\": \"g\", \"name\": \"slow\", \"commands\": [[\"sh\", \"-c\", \"sleep 0.2; exec $work/job\"]]},
	{\"group\": \"h\", \"name\": \"slow\", \"commands\": [[\"sleep\", \"0.9\"]], \"key\": null}]}}" x
same "no time left" True "$(query "[x['status'] for x in r['results'] if x['group'] == 'h'] == ['skipped']")"

# memcheck: a stand-in for the tool, which is ten times slower, or does not end.
mkdir "$work/bin"
cat >"$work/bin/compute-sanitizer" <<'TOOL'
#!/bin/sh
echo "========= COMPUTE-SANITIZER"
[ "$MS" != hang ] || exec sleep 30
MS=1000
export MS
while [ "${1#--}" != "$1" ]; do
	asked="$asked $1=$2"
	shift 2
done
if [ "$FINDS" ]; then
	echo "========= Invalid __global__ write of size 1 bytes"
	echo "=========     at $FINDS(unsigned char *)+0x120 in coarse.cu:1"
	echo "========= asked for$asked" >"${0%/*}/asked"
fi
"$@"
status=$?
[ "$FINDS" = crash ] || echo "========= ERROR SUMMARY: 0 errors"
exit $status
TOOL
chmod +x "$work/bin/compute-sanitizer"
usual=$PATH
PATH=$work/bin:$PATH
plan="{\"memcheck\": {\"seconds\": 60, \"cases\": [
	{\"group\": \"sanitizers\", \"name\": \"tool\", $job, \"pairs\": 2, \"memcheck\": 2},
	{\"group\": \"sanitizers\", \"name\": \"other\", $job, \"pairs\": 2, \"memcheck\": 1, \"memcheck_command\": [\"$work/job\", \"7\"]},
	{\"group\": \"sanitizers\", \"name\": \"late\", $job, \"environment\": {\"MS\": \"hang\"}, \"key\": null, \"pairs\": 1, \"memcheck\": 1, \"memcheck_limit\": 0.3}]}}"
rm -r "$results"
figures "$plan" memcheck
same "memcheck: exit status" 0 "$status"
same "its slowdown" "10.0 10.0" "$(query "row['tool', 'memcheck']['ratio_median'], row['other', 'memcheck']['ratio_median']")"
same "one that does not end says so" "timed out not done after 0.3 s" "$(query "row['late', 'memcheck']['status'], row['late', 'memcheck']['error']")"
says "and so does the report" '^\| sanitizers \| late \| memcheck \|.* \| timed out \| not done after 0[.]3 s \|' "$(cat "$results/latest.md")"
cut() {
	figures "{\"memcheck\": {\"seconds\": 2, \"cases\": [{\"group\": \"sanitizers\", \"name\": \"cut\", $job, \"key\": null,
		\"environment\": {\"MS\": \"$1\"}, \"pairs\": 1, \"memcheck\": 1, \"memcheck_limit\": 30}]}}" memcheck
}
cut hang
same "one that had less time than it may take had no time" "skipped no time was left" \
	"$(query "row['cut', 'memcheck']['status'], row['cut', 'memcheck']['error']")"
cut 100
same "it gets some later" ok "$(query "row['cut', 'memcheck']['status']")"
cut hang
same "and what was measured stays where there is none again" ok "$(query "row['cut', 'memcheck']['status']")"
PATH=$usual
PATH=/usr/bin:/bin CUDA_HOME=$work/absent figures "$plan" memcheck
if ! PATH=/usr/bin:/bin command -v compute-sanitizer >/dev/null; then
	same "without the tool the row is skipped" "skipped" "$(query "row['tool', 'memcheck']['status']")"
	same "and the rest measured" "ok" "$(query "row['tool', 'gmod']['status']")"
fi

# ---- cut off ----

cat >"$work/endless" <<'JOB'
#!/bin/sh
[ "$GMOD_OPTIONS" ] || { echo ms=5; exit; }
echo $$ >"${0%/*}/pid"
exec sleep 60
JOB
chmod +x "$work/endless"
printf '%s' "{\"x\": {\"seconds\": 60, \"cases\": [{\"group\": \"g\", \"name\": \"done\", $job, \"pairs\": 1},
	{\"group\": \"g\", \"name\": \"endless\", \"commands\": [[\"$work/endless\"]]}]}}" >"$work/plan.json"
for signal in INT TERM; do
	rm -rf "$results" "$work/pid"
	python3 bench/figures.py --plan "$work/plan.json" --build "$build" --results "$results" --device d --commit c x \
		>"$work/out" 2>"$work/err" &
	runner=$! i=0
	while [ ! -s "$work/pid" ] && [ $i -lt 300 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	kill -s $signal $runner
	wait $runner
	same "SIG$signal: exit status" 130 $?
	same "what was done is kept" "1" "$(query "row['done', 'gmod']['pairs']")"
	same "and said to be a part" False "$(query "r['parts']['x']['complete']")"
	says "the report too" 'part x was cut off' "$(cat "$results"/*-d-c.md)"
	same "latest.json is not there for it" 0 "$(find "$results" -name 'latest*' | wc -l)"
	! kill -0 "$(cat "$work/pid")" 2>/dev/null
	judge "SIG$signal: no process is left behind" $?
done

# ---- a guarded program, on the simulated driver ----

rm -rf "$results"
simulated="\"environment\": {\"LD_LIBRARY_PATH\": \"{build}/sim\", \"GMOD_TEST_KERNELS\": \"{build}/sim/kernels.so\"}"
refusing="${simulated%\}}, \"SIM_FAIL\": \"cuMemAlloc_v2:5-99\"}"
figures "{\"latency\": {\"seconds\": 60, \"cases\": [
	{\"group\": \"latency\", \"name\": \"ten\", \"commands\": [[\"{build}/sim/programs/figure_latency\", \"10\", \"5\"]], $simulated, \"once\": true,
	\"planted\": true, \"pairs\": 1, \"values\": {\"buffers\": 10, \"scan_interval_us\": 1000}, \"options\": \"max_reports=1\"},
	{\"group\": \"latency\", \"name\": \"busy\", \"commands\": [[\"{build}/sim/programs/figure_latency\", \"10\", \"5\", \"busy\", \"10\"]], $simulated,
	\"once\": true, \"planted\": true, \"pairs\": 1, \"values\": {\"buffers\": 10, \"scan_interval_us\": 1000}},
	{\"group\": \"latency\", \"name\": \"full\", \"commands\": [[\"{build}/sim/programs/figure_latency\", \"10\", \"5\"]], $refusing, \"once\": true,
	\"planted\": true, \"pairs\": 1},
	{\"group\": \"latency\", \"name\": \"slow\", \"commands\": [[\"true\"]], \"once\": true, \"takes\": 61},
	{\"group\": \"g\", \"name\": \"demo\", \"commands\": [[\"{build}/demo/demo\"]], \"key\": null,
	\"environment\": {\"LD_LIBRARY_PATH\": \"{build}/sim\", \"GMOD_TEST_KERNELS\": \"{build}/demo/kernels.so\"}}]}}" latency
same "latency: all that it prints" True "$(query "{'p50_us', 'p99_us', 'max_us', 'buffers', 'scan_interval_us', 'trials'} <= set(row['ten', 'gmod']['values'])")"
same "and what was guarded" 1000 "$(query "row['ten', 'gmod']['guarded_permille']")"
same "a busy device too" "1.0 5.0" "$(query "row['busy', 'gmod']['values']['busy'], row['busy', 'gmod']['values']['trials']")"
row full failed 'exit status 3: FAIL figure_latency: cuMemAlloc: .* with 3 of 10 buffers there'
row slow skipped 'no time was left'
row demo failed '1 findings, 0 degraded'

rm -rf "$results"
figures "{\"monitor\": {\"seconds\": 60, \"cases\": [
	{\"group\": \"footprint\", \"name\": \"thousand\", \"commands\": [[\"{build}/sim/programs/figure_footprint\", \"1000\", \"4096\", \"0.2\"]],
	$simulated, \"once\": true, \"beside\": true, \"key\": \"host_bytes\", \"pairs\": 1, \"options\": \"scan_interval_us=0\"},
	{\"group\": \"footprint\", \"name\": \"alone\", \"commands\": [[\"sh\", \"-c\", \"echo host_bytes=7 alloc_us=2; [ ! \\\"\$GMOD_OPTIONS\\\" ]\"]],
	\"once\": true, \"beside\": true, \"key\": \"host_bytes\", \"pairs\": 1},
	{\"group\": \"calls\", \"name\": \"copies\", \"commands\": [[\"{build}/sim/programs/figure_call_cost\", \"50\"]], $simulated,
	\"unit\": \"ns a call\", \"key\": \"call_ns\", \"pairs\": 2},
	{\"group\": \"calls\", \"name\": \"graphs\", \"commands\": [[\"{build}/sim/programs/figure_graph_cost\", \"100\", \"5\"]], $simulated,
	\"unit\": \"ns a node\", \"key\": \"instantiate_ns\", \"pairs\": 2},
	{\"group\": \"footprint\", \"name\": \"nothing\", $job, \"environment\": {\"MS\": \"0\", \"SLOWER\": \"9\"}, \"once\": true, \"beside\": true,
	\"pairs\": 1}]}}" monitor
# What the simulated device has of canaries is the host's memory, too.
same "a buffer's memory: with GMOD its record too" "True True" "$(query "512 < row['thousand', 'gmod']['values']['host_bytes'] < 16384,
	0 <= row['thousand', 'gmod']['native_values']['host_bytes'] < 4096")"
same "natively it may be nothing" "0.0 9.0 True" "$(query "row['nothing', 'gmod']['native_median'], row['nothing', 'gmod']['median'],
	row['nothing', 'gmod']['ratio_median'] is None")"
same "and its share of a sweep, under GMOD only" "True False" "$(query "0 < row['thousand', 'gmod']['values']['ns_per_buffer'] < 1e6,
	'ns_per_buffer' in row['thousand', 'gmod']['native_values']")"
same "what was measured without GMOD stays where it fails with it" "failed 7.0 {}" "$(query "row['alone', 'gmod']['status'],
	row['alone', 'gmod']['native_values']['host_bytes'], row['alone', 'gmod']['values']")"
page=$(cat "$results/latest.md")
says "the report has them side by side" '^\| thousand \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \([0-9.]+ to [0-9.]+\) \|  \|$' "$page"
same "calls, in a program that makes many" "True 2" "$(query "0 < row['copies', 'gmod']['median'] < 1e9, row['copies', 'gmod']['pairs']")"
same "graphs" "True 2" "$(query "0 < row['graphs', 'gmod']['median'] < 1e9, row['graphs', 'gmod']['pairs']")"
says "as what is added to each" '^\| calls \| copies \| gmod \| [0-9.]+ \| [0-9.]+ \| ns a call \| [-+0-9.]+ ns \| [-+0-9.]+ to [-+0-9.]+, all \|' "$page"
says "and those that failed" '^\| alone \| 7[.]00 \| - \| - \| - \| 2[.]00 \| - \| - \| - \| failed: exit status 1' "$page"

# ---- a planted store ----

python "the times of a finding" <<'PYTHON'
from processes import stamp_ns
assert stamp_ns("1970-01-02T00:00:01.000000003Z") == 86401 * 10**9 + 3
assert stamp_ns("2026-01-31T12:00:00.123456789Z") - stamp_ns("2026-01-31T11:59:59.023456789Z") == 1100000000
PYTHON

# Stands for `coarse NAME timed|planted`: a program on the simulated driver, whose last kernel stores behind a buffer.
cat >"$work/stores" <<'JOB'
#!/bin/sh
after=$(date +%s%N)
"$PROGRAM" >/dev/null || exit
[ "$2" != planted ] || more="buffer_bytes=4000 planted_after_ns=$after planted_by_ns=$(date +%s%N)"
[ ! "$DIES" ] || [ "$MS" != 1000 ] || exit 1
echo "case=$1 ms=9 kernel_ms=2.5 bytes=12000 $more"
JOB
chmod +x "$work/stores"
# planted NAME KERNEL FINDS [DIES [PROGRAM KERNELS]]: a case
planted() {
	printf '{"group": "effectiveness", "name": "%s", "plants": "%s", "commands": [["%s", "%s"]], "key": "kernel_ms",
		"planted": true, "pairs": 2, "memcheck": 1, "environment": {"LD_LIBRARY_PATH": "{build}/sim", "FINDS": "%s",
		"DIES": "%s", "PROGRAM": "{build}/%s", "GMOD_TEST_KERNELS": "{build}/%s"}}' \
		"$1" "$2" "$work/stores" "$1" "$3" "${4:-}" "${5:-demo/demo}" "${6:-demo/kernels.so}"
}
rm -rf "$results"
PATH=$work/bin:$PATH figures "{\"effectiveness\": {\"seconds\": 60, \"cases\": [
	$(planted found vec_add vec_add), $(planted other scale_all vec_add), $(planted dies vec_add vec_add yes),
	$(planted crash vec_add crash), $(planted clean k_axpy '' '' sim/programs/good_axpy sim/kernels.so)]}}" effectiveness
# effect NAME KEY...: of the values of the case under GMOD; tool NAME KEY...: of those of its run under memcheck
effect() {
	query "[row['$1', 'gmod']['values'][key] for key in '${*:2}'.split()]"
}
tool() {
	query "[row['$1', 'memcheck']['values'].get(key) for key in '${*:2}'.split()]"
}
same "a store is found, with its buffer and its kernel" "[2, 2, 'heap-buffer-overflow', 2, 2, 4000.0]" \
	"$(effect found runs found class size_named kernel_named buffer_bytes)"
same "and how soon, at least and at most" True "$(query "(lambda v: 0 <= v['latency_at_least_us'] <= v['latency_us'] <= v['latency_most_us'] < 3e7 and
	v['latency_us'] > 0)(row['found', 'gmod']['values'])")"
same "beside the kernels' time, with and without GMOD" "2.5 2.5" "$(query "row['found', 'gmod']['native_median'], row['found', 'gmod']['median']")"
same "memcheck too" "[1, 'Invalid __global__ write of size 1 bytes']" "$(tool found found said)"
same "and what the kernels take with it" 2.5 "$(query "row['found', 'memcheck']['median']")"
says "it is not to end the program for that" '--tool=memcheck --destroy-on-device-error=kernel$' "$(cat "$work/bin/asked")"
same "another kernel's store is not this one's" "[2, 2, 0]" "$(effect other runs found kernel_named)"
same "nor for memcheck" "[0]" "$(tool other found)"
same "a store that GMOD does not find is a failure" "failed 2 of 2 not found" "$(query "row['clean', 'gmod']['status'], row['clean', 'gmod']['error']")"
says "which is said at the end" '^FAIL effectiveness: clean, gmod: 2 of 2 not found$' "$out"
same "one that memcheck does not find is a figure" "[0, 'ERROR SUMMARY: 0 errors']" "$(tool clean found said)"
same "found, but the program ended with it" "1 no result" "$(query "row['dies', 'memcheck']['values']['found'], row['dies', 'memcheck']['status']")"
same "a tool that breaks down is a failure" "failed memcheck says no ERROR SUMMARY" "$(query "row['crash', 'memcheck']['status'], row['crash', 'memcheck']['error']")"
page=$(cat "$results/latest.md")
says "the report has all of it" '^\| found \| 4000 \| 2 of 2 \| heap-buffer-overflow \| 2 of 2 \| 2 of 2 \| [0-9.e+]+ \| [0-9.e+]+ \| 2[.]50 \| 2[.]50 \| yes \| 2[.]50 \|  \|$' "$page"
says "and what was not found" '^\| clean \| 4000 \| 0 of 2 \| - \| 0 of 0 \| 0 of 0 \| - \| - \| 2[.]50 \| 2[.]50 \| no: ERROR SUMMARY: 0 errors \| 2[.]50 \| failed: 2 of 2 not found \|$' "$page"
says_not "they are no overheads" '^\| effectiveness \|' "$page"

# ---- page traffic ----

# Stands for a program in which what the driver loads says $SAYS; with the library's own words, what that does.
cat >"$work/moves" <<'JOB'
#!/bin/sh
if [ "$CUDA_INJECTION64_PATH" ]; then
	[ -e "$CUDA_INJECTION64_PATH" ] || exit 1
	MS=900 SLOWER=900
	case $GMOD_OPTIONS in
	'') counts="htod_bytes=0 dtoh_bytes=0 cpu_faults=0 gpu_faults=0" ;;
	*backend=managed) counts="htod_bytes=3145728 dtoh_bytes=1048576 cpu_faults=1234567 gpu_faults=7" ;;
	*) counts="htod_bytes=524288 dtoh_bytes=0 cpu_faults=2 gpu_faults=0" ;;
	esac
	[ "$SAYS" = nothing ] || echo "${SAYS:-$counts dropped=0}" >"$GMOD_PAGES"
fi
export MS SLOWER
exec "${0%/*}/job"
JOB
chmod +x "$work/moves"
# moving NAME OPTIONS [SAYS]: a case
moving() {
	printf '{"group": "pages", "name": "%s", "commands": [["%s"]], "options": "%s", "pages": true, "pairs": 2,
		"values": {"program": "%s", "options": "%s"}, "environment": {"SAYS": "%s"}}' \
		"$1" "$work/moves" "$2" "${1%%,*}" "$2" "${3:-}"
}
rm -rf "$results"
figures "{\"pages\": {\"seconds\": 60, \"cases\": [$(moving 'a, default' ''), $(moving 'a, naive' backend=managed),
	$(moving 'without, default' '' 'skipped: libcupti: it is not here'), $(moving 'silent, default' '' nothing),
	$(moving 'torn, default' '' 'htod_bytes=1 dtoh_bytes=1'), $(moving 'drops, default' '' \
	'htod_bytes=1 dtoh_bytes=1 cpu_faults=1 gpu_faults=1 dropped=1')]}}" pages
same "page traffic: as it is counted" "524288.0 3145728.0 0.0" "$(query "row['a, default', 'gmod']['values']['htod_bytes'],
	row['a, naive', 'gmod']['values']['htod_bytes'], row['a, naive', 'gmod']['native_values']['htod_bytes']")"
same "times are of runs without counting" "[100.0, 100.0] [100.2, 100.2]" "$(query "row['a, default', 'gmod']['samples']['native'],
	row['a, default', 'gmod']['samples']['gmod']")"
row 'without, default' skipped 'libcupti: it is not here'
row 'silent, default' failed 'the driver did not load libpages.so'
row 'torn, default' failed 'libpages.so does not say all of its counts'
row 'drops, default' failed 'records of page traffic were dropped'
page=$(cat "$results/latest.md")
says "the report has a program's native figures" '^\| a \| native \| 0 \| 0 \| 0 \| 0 \| 100 \|  \|$' "$page"
same "once" 1 "$(grep -c '^| a | native |' <<<"$page")"
says "those by default" '^\| a \| GMOD \| 0[.]5 \| 0 \| 2 \| 0 \| 100 \|  \|$' "$page"
says "and those of the options" '^\| a \| GMOD backend=managed \| 3[.]00 \| 1[.]00 \| 1234567 \| 7 \| 100 \|  \|$' "$page"
says "and why there are none" '^\| without \| GMOD \| - \| - \| - \| - \| - \| skipped: libcupti: it is not here \|$' "$page"
says_not "they are no overheads" '^\| pages \|' "$page"

# ---- the report ----

python3 - "$work/fixture.json" <<'PYTHON'
import json, sys
import pairs
def row(group, name, variant="gmod", middle=1.002, **more):
    return {"part": group, "group": group, "name": name, "variant": variant, "unit": "ms", "status": "ok", "error": None,
            "pairs": 8, "planned": 8, "native_median": 1234.5, "median": 1237, "ratio_median": middle, "ratio_low": middle - 0.003,
            "ratio_high": middle + 0.004, "interval_level": 0.984, "guarded_permille": 1000, "noise_median": 1.0001,
            "noise_low": 0.999, "noise_high": 1.002, **more}
nothing = {"ratio_median": None, "ratio_low": None, "ratio_high": None, "native_median": None, "median": None}
rows = [row("coarse", "a<b"), row("coarse", "little", status="no result", error="12.0 % of the bytes guarded", **nothing)]
rows += [row("launch", "1 threads", unit="ns per launch", samples={"native": [3, 4, 5], "gmod": [43, 42, 47]})]
rows += [row("sanitizers", "a"), row("sanitizers", "a", "memcheck", 23.4)]
for us in (0, 1000):
    for n in (1, 100, 100000):
        values = {"buffers": n, "scan_interval_us": us, "p50_us": us + n / 100 + 1, "p99_us": us * 3 + n + 1,
                  "max_us": us * 4 + n + 2, "trials": 200}
        rows.append(row("latency", f"{n} {us}", values=values, **nothing))
head = {"device": "1 x NVIDIA Test", "driver": "1", "cuda": "13.0", "commit": "c", "date": "2026-01-01T00:00Z"}
part = {**head, "versions": {"python": "3", "torch": None}, "complete": True}
json.dump({"quick": False, "parts": {row["part"]: part for row in rows}, "verdicts": pairs.verdicts(rows), "results": rows},
          open(sys.argv[1], "w"))
PYTHON
expect "the report" 0 python3 bench/report.py "$work/fixture.json"
says "says how the verdicts are" '^bench: 2 no result, 1 pass: ' "$out"
page=$(cat "$work/fixture.md")
says "a verdict, with the paper's figure" '^\| coarse \| a<b \| \+0\.20 % \| -0\.10 to \+0\.60 \| <= 1\.5 % \| pass \| 9\.7 % at most \|$' "$page"
says "a result, with its noise" '^\| coarse \| a<b \| gmod \| 1234 \| 1237 \| ms \| \+0\.20 % \| -0\.10 to \+0\.60 \| - \| \+0\.01 \(-0\.10 to \+0\.20\) \| 100\.0 % \| 8 of 8 \|$' "$page"
says "none where too little was guarded" '^\| coarse \| little \| gmod \| - \| - \| ms \| no result \| 12\.0 % of the bytes guarded ' "$page"
says "memcheck, in times" '^\| sanitizers \| a \| memcheck \|.* 23\.40x ' "$page"
says "a launch, as what is added to nothing" '^\| launch \| 1 threads \| gmod \| 1234 \| 1237 \| ns per launch \| \+40\.00 ns \| \+38\.00 to \+42\.00, all \| - \| - \| ' "$page"
says "latencies" '^\| 100000 \| 1000 \| idle \| 2001 \| 103001 \| 104002 \| 200 ' "$page"
says "the page shows the plot" '^!\[overhead\]\(fixture-overhead\.svg\)$' "$page"
says_not "the plot of the latest result has names for people" "'end'[^>]*>[^<]*(_|llama|resnet)" "$(cat bench/results/latest-overhead.svg)"
python3 -c "import xml.dom.minidom, sys; xml.dom.minidom.parse(sys.argv[1])" "$work/fixture-overhead.svg" 2>"$work/.err"
judge "which is well-formed" $? "$(tail -n 1 "$work/.err")"
before=$(cat "$work"/fixture*.svg "$work/fixture.md" | md5sum)
PYTHONHASHSEED=7 python3 bench/report.py "$work/fixture.json" >/dev/null
same "the same result makes the same files" "$before" "$(cat "$work"/fixture*.svg "$work/fixture.md" | md5sum)"

# ---- the table of parts ----

python "the table: parts of at most 8 minutes, known to bench/run" <<'PYTHON'
import parts
for quick, limit in ((False, 1900), (True, 240)):
    table = parts.table(quick)
    assert sum(seconds for name, (seconds, _) in table.items() if name != "ddp") < limit and max(s for s, _ in table.values()) <= 480
    for name, (_, cases) in table.items():
        assert cases and all(case.part == name for case in cases)
        assert len({(case.group, case.name) for case in cases}) == len(cases)
head = open("bench/run").read().split("\nimport ")[0]
readme = open("bench/README.md").read()
for name in parts.PARTS:
    assert f"\n  {name} " in head and f"\n| `{name}` |" in readme, name
PYTHON
python "two programs at the same time: in two processes, and in one" <<'PYTHON'
import parts
cases = {(case.group, case.name): case for case in parts.corun(False)}
assert len(cases) == 4
for (group, name), case in cases.items():
    a, b = name.split(" + ")
    assert {a, b} <= set(parts.PROGRAMS) and a != b
    one = [[parts.PROGRAM, f"{a}+{b}"]], "ms"
    assert (case.commands, case.key) == (([[parts.PROGRAM, a], [parts.PROGRAM, b]], None) if group == "side by side" else one)
PYTHON
python "a target counts the cases that there are" <<'PYTHON'
import pairs, parts
cases = [case for _, cases in parts.table(False).values() for case in cases]
for group, target in pairs.TARGETS.items():
    assert sum(case.group == group for case in cases) == target["count"], group
PYTHON

same "bench/results is as it was" "$committed" "$(find bench/results -type f -exec md5sum {} + 2>/dev/null | sort)"
finish
