#!/usr/bin/env bash
# gmod report over several processes and several runs: findings on one clock, the first one first, and what is new since
# an earlier run.
. "$(dirname "$0")/testlib"
needs_python3
unset DEBUGINFOD_URLS

reported() {
	expect "$1" "$2" scripts/gmod report --no-symbols "${@:3}"
}

# finding FILE: MEMBER=JSON...: a line of a made-up finding, with these members in place of the usual ones.
cat >"$work/finding.py" <<'PYTHON'
import json, sys
f = {"schema": "gmod-report-2", "event": "finding", "pid": 7, "host": "alpha", "rank": 0, "version": "1", "id": 1, "status": "final",
     "class": "heap-buffer-overflow", "time": "2026-11-28T12:00:05.000000000Z", "command": "./app", "site_hash": "00000000000000aa", "device": 0,
     "gpu": None, "size": 64, "offset": 0, "site": "make app+0x10", "message": "4 bytes changed", "call": None, "suspects": [],
     "suspects_total": 0, "suspects_omitted": 0, "launches_lost": 0, "unknown_before": None, "nearby": [], "next_step": "", "suppression": None}
own = {"function": "make", "offset": "0x10", "build_id": "aa", "seen": "12:00:01", "python": []}
for word in sys.argv[1:]:
    name, _, value = word.partition("=")
    (own if name in own else f)[name] = json.loads(value) if name in ("pid", "rank", "suspects", "python") else value
frame = {"module": "app", "path": "/nowhere/app", "build_id": own["build_id"], "offset": own["offset"], "function": own["function"], "symbol": own["function"]}
f["buffer"] = {"base": "0x1000", "size": 64, "device": 0, "memory": "device", "backend": "device", "allocation": 1, "site_allocations": 0,
               "site_guarded": 0, "freed": None,
               "allocated": {"time": "2026-11-28T11:59:00.000000000Z", "thread": 7, "python": own["python"], "frames": [frame]}}
f["corruption"] = {"offset": 0, "changed": 4, "extent": 4, "observed": "01020304", "expected": "05060708", "restored": False,
                   "intact": "2026-11-28T12:00:00.000000000Z", "seen": f"2026-11-28T{own['seen']}.000000000Z"}
print(json.dumps(f))
PYTHON
finding() {
	python3 "$work/finding.py" "$@"
}

# ---- one clock ----

other=(function=grow offset=0x20 site_hash=00000000000000bb 'site=grow app+0x20')
finding pid=1 rank=1 seen=12:00:03 >"$work/1"
finding pid=2 rank=2 seen=12:00:02 host=beta >"$work/2"
finding pid=3 rank=3 seen=12:00:01 "${other[@]}" >"$work/3"
for rank in 4 5 6; do
	finding pid=$rank rank=$rank seen=12:00:0$rank >"$work/$rank"
done
reported "findings of six ranks" 0 "$work"/[1-6]
says "the group that came first is first, though the other has more processes" '^1\. heap-buffer-overflow: grow app\+0x20$' "$out"
says "when it came" '^    the first finding, on rank 3 on alpha, at 12:00:01\.000000$' "$out"
same "those of the other, in their order" "rank 2 on beta, by 1.000|rank 1 on alpha, by 2.000|rank 4 on alpha, by 3.000" \
	"$(sed -nE 's/^    later, on (.*) s$/\1/p' <<<"$out" | paste -sd '|')"
says "the others are counted" '^    and 2 more$' "$out"
says "whose clocks these are" '^note: the order is by the clocks of 2 hosts, which may differ: by how much is not known$' "$out"
reported "findings of one host" 0 "$work/1" "$work/3"
says_not "have one clock" 'clocks' "$out"
reported "one process" 0 "$work/1"
says_not "has no order" 'first finding' "$out"
note='{"schema":"gmod-report-2","event":"note","pid":1,"host":"alpha","rank":1,"version":"1","text":"started: version 1, 9 hooks armed"}'
(echo "$note" && cat "$work/1" && echo "$note" && finding pid=1 rank=1 seen=12:30:03) >"$work/lives"
reported "a rank that is started again" 0 "$work/lives"
says "has the finding again, later" '^    later, on rank 1 on alpha \(start 2\), by 1800.000 s$' "$out"
reported "in JSON" 0 --json "$work/1" "$work/3"
same "each has how much later it came" "0.0 2.0" "$(sed -n 's/^ *"later": \([0-9.]*\).*/\1/p' <<<"$out" | paste -sd ' ')"

# ---- two runs ----

finding function=lose offset=0x30 site_hash=00000000000000cc 'site=lose app+0x30' >"$work/lost"
reported "an earlier run to compare with" 0 --baseline "$work/1" "$work/lost" -- "$work/2" "$work/3"
says "counts" '^compared with the baseline: 1 new, 1 the same, 1 gone$' "$out"
says "what is new" '^1\. new: heap-buffer-overflow: grow ' "$out"
says "what is the same" '^2\. the same: heap-buffer-overflow: make ' "$out"
says "what is gone" '^gone: heap-buffer-overflow: lose app\+0x30 \(1 finding in 1 process: rank 0 on alpha\)$' "$out"
reported "the option a file each" 0 "--baseline=$work/1" "--baseline=$work/lost" "$work/2" "$work/3"
says "says the same" '^compared with the baseline: 1 new, 1 the same, 1 gone$' "$out"
reported "the logs in front" 0 "$work/2" "$work/3" --baseline "$work/1"
says "do, too" '^compared with the baseline: 1 new, 1 the same, 0 gone$' "$out"
reported "in JSON" 0 --json --baseline "$work/1" "$work/lost" -- "$work/2" "$work/3"
same "each group has its word" "new the same gone" "$(sed -n 's/^ *"baseline": "\(.*\)",$/\1/p' <<<"$out" | paste -sd ' ')"
says "those that are gone are apart" '^ "gone": \[$' "$out"
reported "in SARIF" 0 --sarif --baseline "$work/1" "$work/lost" -- "$work/2" "$work/3"
same "by the words of SARIF" "new unchanged absent" "$(sed -n 's/^ *"baselineState": "\(.*\)",*$/\1/p' <<<"$out" | paste -sd ' ')"
reported "a page" 0 --html "$work/page.html" --baseline "$work/1" "$work/lost" -- "$work/2" "$work/3"
says "has what is gone" 'lose app\+0x30' "$(<"$work/page.html")"
finding offset=0x18 build_id=bb site_hash=00000000000000dd 'suspects=[]' >"$work/rebuilt"
reported "another build" 0 --baseline "$work/1" -- "$work/rebuilt"
says "is compared by its functions" ': 0 new, 1 the same, 0 gone$' "$out"
finding offset=0x18 site_hash=00000000000000dd >"$work/beside"
reported "another place of the same build, in the same function" 0 --baseline "$work/1" -- "$work/beside"
says "is new" ': 1 new, 0 the same, 1 gone$' "$out"
place='python=[{"function":"step","file":"/nowhere/train.py","line":LINE}]'
finding site_hash=00000000000000ee "${place/LINE/5}" >"$work/python"
finding site_hash=00000000000000ff build_id=bb "${place/LINE/6}" >"$work/python.moved"
reported "another line of Python, beside another build" 0 --baseline "$work/python" -- "$work/python.moved"
says "is new, too" ': 1 new, 0 the same, 1 gone$' "$out"
reported "a job fails by what is new" 86 --fail=new --baseline "$work/1" -- "$work/3"
reported "and not by what is the same" 0 --fail=new --baseline "$work/1" -- "$work/2"
reported "the findings themselves fail it as before" 86 --fail --baseline "$work/1" -- "$work/2"
reported "new without an earlier run" 2 --fail=new "$work/1"
same "what it needs" "gmod report: --fail=new needs a --baseline; see gmod report --help" "$err"
reported "an earlier run that is not there" 1 --fail=new --baseline "$work/absent" -- "$work/1"
says "which" '/absent: No such file or directory$' "$err"

finish
