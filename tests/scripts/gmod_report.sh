#!/usr/bin/env bash
# gmod report: logs of many ranks become one group a site, with source lines; whatever is wrong with a file is said in a
# line, and nothing of a log gets out of its place.
. "$(dirname "$0")/testlib"
needs_python3
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID RANK LOCAL_RANK DEBUGINFOD_URLS
export GMOD_TEST_KERNELS=$build/demo/kernels.so LD_LIBRARY_PATH=$build/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# guarded OPTIONS COMMAND...: its log is what the options say.
guarded() {
	LD_PRELOAD=$build/libgmod.so GMOD_OPTIONS="verbosity=1:$1" "${@:2}" >/dev/null 2>&1
}

# reported NAME STATUS ARGUMENT...: what gmod report prints is $out.
reported() {
	expect "$1" "$2" scripts/gmod report "${@:3}"
}

python "it is Python 3.8 at most" <<'PYTHON'
import ast, glob
for path in glob.glob("scripts/report/*.py"):
    ast.parse(open(path).read(), path, feature_version=(3, 8))
PYTHON

# ---- 16 ranks on two hosts, half of them in JSON ----

line=$(grep -n 'cuMemAlloc(&vector' tests/demo/demo.c | cut -d : -f 1)
caller=$(grep -n 'make_vector(0)' tests/demo/demo.c | cut -d : -f 1)
for rank in {0..15}; do
	form=$([ $((rank % 2)) -eq 0 ] && echo text || echo json)
	OMPI_COMM_WORLD_RANK=$rank guarded "log_format=$form:log_path=$work/job.%r.$form" "$build/demo/demo"
	host=$([ "$rank" -lt 8 ] && echo alpha || echo beta)
	sed -i -E "s/process: host [^,]*,/process: host $host,/; s/\"host\":\"[^\"]*\"/\"host\":\"$host\"/" "$work/job.$rank.$form"
done
reported "16 ranks" 0 --html "$work/page.html" "$work"/job.*
text=$out
says "one group" '^16 findings in 1 group, from logs of 16 processes$' "$text"
says "its ranks by host" '^    16 findings in 16 processes: ranks 0-7 on alpha; ranks 8-15 on beta$' "$text"
says "its site has a line" "^1\. heap-buffer-overflow: make_vector demo.c:$line, from main demo.c:$caller\$" "$text"
says "so has each frame" "^      #0 make_vector  $top/tests/demo/demo.c:$line\$" "$text"
says "the caller's too" "^      #[01] main  $top/tests/demo/demo.c:$caller\$" "$text"
says "its suspect, the one that has the buffer first" '^    suspects: vec_add: suspected by all of 16 findings; argument 0 points into the buffer$' "$text"
says "the other one, which has memory in front" '^ {14}scale: suspected by all of 16 findings; argument 0 points [0-9]+ bytes in front$' "$text"
says "what was there before" '^    bytes at \+[0-3]:( [0-9a-f]{2}){1,4}, where( [0-9a-f]{2}){1,4} had been(; the first word is .*)?$' "$text"

says "how many of them a suppression covers" '^    or, for the file of suppressions \(covers 16 of 16 findings\): heap-buffer-overflow:make_vector$' "$text"
sed 's/make_vector/make_matrix/g; s/"pid":[0-9]*/"pid":71/; s/,"suppression":"[^"]*"/,"suppression":"*:make_m* \&\& main"/' "$work/job.3.json" >"$work/matrix.json"
sed 's/vec_add/mat_add/g; s/"pid":[0-9]*/"pid":72/; s/,"suppression":"[^"]*"/,"suppression":"leak:*"/' "$work/matrix.json" >"$work/other.json"
reported "findings of which a line covers some" 0 --json "$work/job.1.json" "$work/matrix.json" "$work/other.json"
same "each line covers what both of its patterns match" "1,2,0" \
	"$(sed -n 's/^ *"covered": \([0-9]*\),*$/\1/p' <<<"$out" | paste -sd,)"

reported "one finding" 0 "$work/job.1.json"
says "when it was written" '^    written between [0-9:.]{15} \(last seen intact\) and [0-9:.]{15} UTC$' "$out"
says "how to suppress it" '^    or, for the file of suppressions \(covers 1 of 1 finding\): heap-buffer-overflow:make_vector$' "$out"
says "how its suspect was launched" '^    suspects: vec_add x1 on the default stream, 8 blocks of 128 threads, launched at [0-9:.]{15}: argument 0 points into the buffer$' "$out"

# Where the bytes lie, and when they were written: not always between two looks, nor on the day of the report.
sed -E 's/changed bytes at \+[0-9]+:/changed bytes at +32:/; s/written between .* and /written before /' "$work/job.0.text" >"$work/before"
reported "bytes that were never seen intact" 0 --html "$work/before.html" "$work/before"
says "their report is whole" '^    bytes at \+32:' "$out"
says "the page's timeline says what is not known" 'class="unknown"[^>]*><title>vec_add x1: perhaps it still ran</title>' "$(<"$work/before.html")"
says "they have the same offset on the page" '<th>\+32</th>' "$(<"$work/before.html")"
sed -E 's/written between .* UTC/written between 23:59:58.000000 (last seen intact) and 00:00:04.000000 UTC/
	s/ at 20[0-9-]+ [0-9:.]+ UTC/ at 2026-11-25 00:00:05.000000 UTC/' "$work/job.0.text" >"$work/midnight"
reported "bytes that were written around midnight" 0 --json "$work/midnight"
same "midnight: intact the day before, changed on that of the report" "2026-11-24T23:59:58 2026-11-25T00:00:04 " \
	"$(sed -nE 's/^ *"(intact|seen)": "([^.]*).*/\2/p' <<<"$out" | tr '\n' ' ')"

# Each symboliser by itself finds the same, and so it does where launchers have marked and mixed the lines.
for tool in addr2line llvm-symbolizer; do
	if command -v "$tool" >/dev/null; then
		reported "by $tool" 0 --symbolizer "$(command -v "$tool")" "$work/job.0.text"
		says "by $tool: the line" "#0 make_vector  $top/tests/demo/demo.c:$line\$" "$out"
	fi
done
for rank in 0 2; do
	sed "s/^/[1,$rank]<stderr>: /" "$work/job.$rank.text" >"$work/marked.$rank"
done
paste -d '\n' "$work/marked.0" "$work/marked.2" >"$work/mixed"
reported "lines that a launcher has marked and mixed" 0 "$work/mixed"
says "they are two reports" '^    2 findings in 2 processes: ranks 0, 2 on alpha$' "$out"

# Times that differ from line to line, as kubectl, journalctl and mpirun put them there.
while IFS='|' read -r who front _; do
	awk -v front="$front" '{ f = front; gsub("NN", sprintf("%02d", NR % 60), f); print f $0 }' "$work/job.0.text" >"$work/stamped"
	reported "times by $who" 0 "$work/stamped"
	says "times by $who: the report is whole" '^1 finding in 1 group' "$out"
	says "times by $who: also its stack" "#0 make_vector  $top/tests/demo/demo.c:$line\$" "$out"
done <<-'END'
	kubectl|2026-11-25T22:22:NN.123456789Z |
	journalctl|Nov 25 22:22:NN host app[123]: |
	a zone|[2026-11-25 22:22:NN,123+01:00] |
	mpirun|Wed Nov 25 22:22:NN 2026[1,0]<stderr>:|
END

# A module's name may have two blanks in a row, which is what stands behind a function, too.
mkdir "$work/blanks"
cp "$build/demo/demo" "$work/blanks/pro  gr: 5 in x"
for form in text json; do
	guarded "log_format=$form:log_path=$work/blanks.$form" "$work/blanks/pro  gr: 5 in x"
	reported "a program with two blanks in its name, in $form" 0 "$work/blanks.$form"
	says "blanks, in $form: its frames have lines" "^      #0 make_vector  $top/tests/demo/demo.c:$line\$" "$out"
	reported "the same without lines, in $form" 0 --no-symbols "$work/blanks.$form"
	says "blanks, in $form: function and module" '^      #0 make_vector  pro  gr: 5 in x\+0x[0-9a-f]+$' "$out"
	reported "the same for programs, in $form" 0 --no-symbols --json "$work/blanks.$form"
	says "blanks, in $form: the function alone" '^ *"function": "make_vector",$' "$out"
done

# A job fails by the findings of whichever process.
reported "a job with findings" 86 --fail "$work/job.0.text" "$work/job.1.json"
guarded "log_path=$work/healthy" "$build/sim/programs/good_axpy"
reported "a job without" 0 --fail "$work/healthy"
head -n 1 "$work/job.0.text" >"$work/killed"
reported "a process that did not get to its end" 0 --fail "$work/killed"
says "is named" '^note: process [0-9]+ \(.*/killed\): no closing line: killed, or still running' "$out"
guarded "log_path=$work/bare:backend=native" "$build/sim/programs/good_axpy"
reported "a process that guarded nothing" 0 --fail "$work/bare" "$work/killed"
says "is named, too" '^note: process [0-9]+ \(.*/bare\): 0\.0 % of the device memory guarded$' "$out"
reported "one that did not get to its end fails, where that is asked for" 86 --fail=findings,incomplete "$work/killed"
reported "one that guarded nothing fails, where that is asked for" 86 --fail=unguarded "$work/bare"
reported "each by its own word" 0 --fail=incomplete,unguarded "$work/job.0.text"
reported "a word that there is not" 2 --fail=findings,warnings "$work/killed"
same "is named, in a line" "gmod report: argument --fail: warnings is none of findings, incomplete, unguarded, new; see gmod report --help" "$err"
reported "a file that cannot be read" 1 --fail "$work/job.0.text" "$work/absent"
reported "a log that is named twice" 0 "$work/job.0.text" "$work/job.0.text"
says "counts once" '^1 finding in' "$out"

# What a process counts and does not show.
for form in text json; do
	GMOD_TEST_KERNELS=$build/sim/kernels.so guarded "log_format=$form:log_path=$work/at_once.$form" "$build/sim/programs/bad_at_once"
	reported "300 findings of a site, in $form" 0 "$work/at_once.$form"
	says "$form: five are shown" '^5 findings in 1 group' "$out"
	says "$form: the others are not forgotten" '^note: process [0-9]+ on [^ ]+: 295 further findings counted, and not in its log$' "$out"
done

# Memory that kernels allocate has no stack.
for form in text json; do
	GMOD_TEST_KERNELS=$build/sim/kernels.so guarded "log_format=$form:log_path=$work/inkernel.$form" "$build/sim/programs/bad_inkernel_double_free"
	reported "in a kernel, in $form" 0 "$work/inkernel.$form"
	says "in a kernel, in $form: the title" '^1\. double-free: memory that kernels allocate$' "$out"
	says "in a kernel, in $form: who allocated" '^      mallocN in thread [0-9]+ of block [0-9]+ of a kernel$' "$out"
	says_not "in a kernel, in $form: no line would cover it" 'file of suppressions' "$out"
	says "in a kernel, in $form: who freed" '^      freeN in thread [0-9]+ of block [0-9]+ of a kernel$' "$out"
done

# What a rotated log has lost is not lost in silence; what a restarted container found first is not, either.
sed '1,/GMOD: heap-buffer-overflow/d' "$work/job.0.text" >"$work/beheaded"
reported "a report without its beginning" 1 "$work/beheaded"
says "is said to be there" ': 1 report is cut short$' "$err"
sed -n '/"event":"finding"/{s/"final"/"provisional"/; s/"base":"0x/"base":"0x1/; p;}' "$work/job.1.json" |
	cat - "$work/job.1.json" >"$work/restarted"
reported "a provisional finding of a process that had the same number" 0 "$work/restarted"
says "counts" '^2 findings in' "$out"

# A container that is started again is process 1 again: its lives are told apart by what each says first.
unclosed='/GMOD: guarded |"event":"summary"/d'
unsaid='/GMOD: started: |"text":"started: /d'
for form in text json; do
	sed -E 's/==[0-9]+==/==1==/; s/"pid":[0-9]+/"pid":1/' "$work/at_once.$form" >"$work/life.$form"
	sed -E "$unclosed; /findings were counted/d" "$work/life.$form" >"$work/killed.$form"
	cat "$work/killed.$form" "$work/life.$form" "$work/life.$form" >"$work/lives.$form"
	reported "three lives of a container, in $form" 0 "$work/lives.$form"
	says "lives, in $form: each is a process" '^    15 findings in 3 processes on [^ ]+$' "$out"
	same "lives, in $form: what each has not shown" 2 "$(grep -c '^note: process 1 on .*: 295 further findings' <<<"$out")"
	says "lives, in $form: the one that was killed" '^note: process 1 \([^ ]+\): no closing line: killed, ' "$out"
	sed -E 's/(\[finding [0-9]+)\]/\1, provisional, a final report follows]/; s/"final"/"provisional"/; /^SUMMARY/d' \
		"$work/killed.$form" | cat - "$work/life.$form" >"$work/unsure.$form"
	reported "a provisional finding of the life before, of a buffer of that address, in $form" 0 "$work/unsure.$form"
	says "counts, in $form" '^10 findings in ' "$out"
	sed 's/process: host [^,]*,/process: host other,/; s/"host":"[^"]*"/"host":"other"/' "$work/life.$form" |
		cat "$work/life.$form" - >"$work/hosts.$form"
	reported "a life on another host, in $form" 0 "$work/hosts.$form"
	same "hosts, in $form: what each has not shown" 2 "$(grep -c '^note: process 1 on .*: 295 further findings' <<<"$out")"
	sed -E "$unclosed; $unsaid" "$work/lives.$form" >"$work/terse.$form"
	reported "lives that say nothing of themselves, in $form" 0 "$work/terse.$form"
	says "terse, in $form: they are one" '^15 findings in 1 group, from logs of 1 process$' "$out"
	sed -E "$unclosed" "$work/life.$form" >"$work/open.$form"
	grep -E 'GMOD: guarded |"event":"summary"' "$work/life.$form" >"$work/closing.$form"
	cat "$work/open.$form" "$work/open.$form" "$work/closing.$form" "$work/closing.$form" >"$work/beside.$form"
	reported "two of one number at the same time, in $form" 0 "$work/beside.$form"
	says "beside, in $form: nobody can tell them apart" '^10 findings in 1 group, from logs of 1 process$' "$out"
	says_not "beside, in $form: so neither is said to be killed" 'no closing line' "$out"
done
reported "lives in text and in JSON" 0 "$work/lives.text" "$work/lives.json"
says "are the same" '^    30 findings in 3 processes on [^ ]+$' "$out"
sed '/^    process: /,$d' "$work/life.text" | cat - "$work/life.text" >"$work/unfinished"
reported "a life that was killed in the midst of a report" 1 "$work/unfinished"
says "has that report" '^6 findings in .* from logs of 2 processes$' "$out"
says "and no end" '^note: process 1 \([^ ]+\): no closing line: killed, ' "$out"

# More suspects than the line of a finding has room for are in lines of their own; what is missing is said.
python3 - "$work/job.1.json" "$work/many.json" <<'PYTHON'
import copy, json, sys
with open(sys.argv[1]) as f:
    events = [json.loads(line) for line in f]
with open(sys.argv[2], "w") as out:
    for event in events:
        if event["event"] == "finding":
            one = event["suspects"][0]
            many = [dict(copy.deepcopy(one), kernel=f"kernel_{i}", symbol=f"kernel_{i}") for i in range(20)]
            event.update(suspects=many[:8], suspects_total=20, suspects_omitted=0)
            print(json.dumps(event), file=out)
            head = {key: event[key] for key in ("schema", "pid", "host", "rank", "version", "id", "status")}
            for at in (8, 16):
                print(json.dumps({**head, "event": "suspects", "from": at, "suspects": many[at:at + 8]}), file=out)
        else:
            print(json.dumps(event), file=out)
PYTHON
tests/valid-json "$work/many.json" >/dev/null
judge "suspects in lines of their own: as the schema says" $?
reported "suspects in lines of their own" 0 --html "$work/many.html" "$work/many.json"
same "each is told" 20 "$(grep -cE 'kernel_[0-9]+ x1 on ' <<<"$out")"
same "on the page, too" 20 "$(grep -oE '>kernel_[0-9]+<' "$work/many.html" | sort -u | wc -l)"
says_not "nothing is missing" 'incomplete' "$out"
sed '/"event": "suspects".*"from": 16/d' "$work/many.json" >"$work/fewer.json"
reported "a line of suspects that is lost" 0 --html "$work/many.html" "$work/fewer.json"
says "is said in front of them" '^    incomplete: up to 4 more kernels were under way than a log names$' "$out"
says "on the page, too" '<b>incomplete: </b>up to 4 more kernels' "$(cat "$work/many.html")"
outcome scripts/gmod report --json "$work/fewer.json"
says "and for programs" '"incomplete": \[' "$out"
outcome scripts/gmod report --sarif "$work/fewer.json"
says "and in SARIF" 'incomplete: up to 4 more kernels' "$out"

# Logs whose lines were written anew on their way.
rewritten() {
	python3 - "$1" "$work/job.1.json" "$work/job.0.text" <<'PYTHON'
import json, sys
how, as_json, as_text = sys.argv[1:]
stamp = "2026-11-28T01:02:03.123456789Z"
for line in open(as_text if how.endswith("text") else as_json):
    line = line.rstrip("\n")
    if how == "sorted":
        print(json.dumps(json.loads(line), sort_keys=True, indent=None, separators=(" , ", " : ")))
    elif how.startswith("docker"):
        print(json.dumps({"log": line + "\n", "stream": "stderr", "time": stamp}))
    elif how == "shipper":
        print(json.dumps({"@timestamp": stamp, "kubernetes": {"pod": "p"}, "message": json.loads(line)}))
    else:
        parts = [line[i:i + 1000] for i in range(0, len(line), 1000)]
        for i, part in enumerate(parts):
            print(stamp, "stderr", "F" if i == len(parts) - 1 else "P", part)
            print(stamp, "stdout", "F", "something else")
PYTHON
}
for how in sorted docker docker-text shipper cri cri-text; do
	rewritten $how >"$work/rewritten"
	reported "a log rewritten: $how" 0 "$work/rewritten"
	says "rewritten, $how: its finding is there" '^1 finding in 1 group, from logs of 1 process$' "$out"
	says "rewritten, $how: with its frames" "#0 make_vector  $top/tests/demo/demo.c:$line\$" "$out"
done

# A kernel that one rank suspects alone splits no group; a rank that suspects nothing in common is another.
sed -E '/^ +[0-9]+\. vec_add x1 /d' "$work/job.0.text" >"$work/other"
reported "suspects that have nothing in common" 0 "$work/other" "$work/job.1.json"
says "are two groups" '^2 findings in [12] groups?,' "$out"
sed -E '/^ +[0-9]+\. scale x1 /d; s/^ +[0-9]+\. vec_add x1 .*/      1. k_other x1 on the default stream/' "$work/job.0.text" >"$work/other"
reported "another suspect" 0 "$work/other" "$work/job.2.text"
says "is another group" '^2 findings in 2 groups,' "$out"

# ---- C++, in a module that has moved ----

if command -v "${CXX:-g++}" >/dev/null; then
	cat >"$work/twice.cpp" <<-'CPP'
		#include <cuda.h>
		namespace memory {
		template <typename T> struct owner {
			CUdeviceptr at = 0;
			__attribute__((noinline)) void take(size_t n)
			{
				cuMemAlloc(&at, n * sizeof(T)); /* taken here */
				asm volatile("");
			}
			__attribute__((noinline)) CUresult give() const
			{
				CUresult r = cuMemFree(at); /* given here */
				asm volatile("");
				return r;
			}
		};
		} // namespace memory
		int main()
		{
			CUcontext context;
			memory::owner<float> one;
			cuInit(0);
			cuDevicePrimaryCtxRetain(&context, 0);
			cuCtxSetCurrent(context);
			one.take(100);
			one.give();
			one.give();
		}
	CPP
	"${CXX:-g++}" -g -O1 -Wl,--build-id -isystem "${CUDA_INC:-/usr/local/cuda/include}" -o "$work/twice" "$work/twice.cpp" \
		"$build/sim/libcuda.so.1" 2>"$work/.err"
	judge "a program in C++" $? "$(cat "$work/.err")"
	taken=$(grep -n 'taken here' "$work/twice.cpp" | cut -d : -f 1) given=$(grep -n 'given here' "$work/twice.cpp" | cut -d : -f 1)
	guarded "log_path=$work/twice.text" "$work/twice"
	guarded "log_format=json:log_path=$work/twice.json" "$work/twice"
	reported "C++" 0 "$work/twice.text" "$work/twice.json"
	says "one group for both logs" '^2 findings in 1 group, from logs of 2 processes$' "$out"
	says "the site is the call" "^1\. double-free: memory::owner<float>::give.* twice.cpp:$given, from main twice.cpp:[0-9]+\$" "$out"
	says "the allocation has its line, too" "#0 memory::owner<float>::take\(unsigned long\)  $work/twice.cpp:$taken\$" "$out"
	mkdir -p "$work/kept/deep"
	mv "$work/twice" "$work/kept/deep/another-name"
	reported "a module that is gone" 0 "$work/twice.json"
	says "has no lines, and readable names" "#0 memory::owner<float>::take\(unsigned long\)  twice\+0x" "$out"
	says_not "which is not said to be another build" 'is another build' "$out"
	reported "one that has moved" 0 --modules "$work/kept" "$work/twice.text"
	says "is found by its build-id" "twice.cpp:$given\$" "$out"
	# What debuginfod-find would do.
	mkdir "$work/bin"
	# shellcheck disable=SC2016 # that script expands them
	printf '#!/bin/sh\n[ "$1 $2" = "debuginfo %s" ] && echo "%s"\n' \
		"$(sed -nE 's/^    module .*\/twice build-id //p' "$work/twice.text" | head -n 1)" "$work/kept/deep/another-name" \
		>"$work/bin/debuginfod-find"
	chmod +x "$work/bin/debuginfod-find"
	PATH=$work/bin:$PATH DEBUGINFOD_URLS=http://127.0.0.1:9 reported "one that debuginfod has" 0 "$work/twice.json"
	says "is found, too" "twice.cpp:$given\$" "$out"
	cp "$work/kept/deep/another-name" "$work/twice"
	strip "$work/twice"
	PATH=$work/bin:$PATH DEBUGINFOD_URLS=http://127.0.0.1:9 reported "one that has been stripped" 0 "$work/twice.json"
	says "has its lines from there" "twice.cpp:$given\$" "$out"
	rm "$work/twice"
	PATH=$work/bin:$PATH reported "but nobody is asked unasked" 0 "$work/twice.json"
	says_not "where no server is configured" "twice.cpp:" "$out"
	cp "$build/demo/demo" "$work/twice"
	reported "another build in its place" 0 "$work/twice.json"
	says "is not believed" '^note: .*/twice is another build than the one of the log: no lines for its frames$' "$out"
	says_not "its lines neither" 'demo\.c:' "$out"
else
	skip "C++" "there is no C++ compiler"
fi

# ---- Python, and PyTorch's tensors ----

python "logs and a snapshot made by hand" <<PYTHON
import json, pickle
lines = [json.loads(line) for line in open("$work/job.1.json")]
finding = next(line for line in lines if line["event"] == "finding")
stack = [{"function": "step", "file": "/home/u/train.py", "line": 42},
         {"function": "call", "file": "/usr/lib/python3/dist-packages/torch/module.py", "line": 3}, {"function": "<module>", "file": "/home/u/train.py", "line": 7}]
finding["buffer"]["allocated"]["python"] = stack
finding["suspects"][0]["python"] = [{"function": "forward", "file": "/home/u/net.py", "line": 9},
                                    {"function": "<module>", "file": "/home/u/train.py", "line": 8}]
open("$work/python.json", "w").write(json.dumps(finding, separators=(",", ":")) + "\n")
base, size = int(finding["buffer"]["base"], 16), finding["buffer"]["size"]
frames = [{"filename": "??", "line": 0, "name": "at::empty"}, {"filename": "/home/u/net.py", "line": 5, "name": "make"}]
blocks = [{"address": base, "size": 3072, "requested_size": 3000, "state": "inactive", "frames": []},
          {"address": base + 3072, "size": size - 3072, "requested_size": 900, "state": "active_allocated", "frames": frames}]
segment = {"device": 0, "address": base, "total_size": size, "allocated_size": size, "active_size": size, "requested_size": 3900,
           "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}
trace = {"action": "alloc", "addr": base + 3072, "frames": frames, "size": 900, "stream": 0, "time_us": 1}
snapshot = {"segments": [dict(segment, address=base + (1 << 30)), segment], "device_traces": [[trace]],
            "allocator_settings": {"expandable_segments": False}}
pickle.dump(snapshot, open("$work/snapshot.pickle", "wb"))
class Evil:
    def __reduce__(self):
        return open, ("$work/owned", "w")
pickle.dump({"segments": [Evil()]}, open("$work/evil.pickle", "wb"))
PYTHON
reported "a finding in Python, with a snapshot" 0 --snapshot "1:$work/snapshot.pickle" "$work/python.json"
says "its site is Python's line" '^1\. heap-buffer-overflow: step train.py:42, from <module> train.py:7$' "$out"
says "which comes before the frames" '^      at /home/u/train.py:42 in step$' "$out"
says "where the suspect was launched" 'launched at /home/u/net.py:9 in forward$' "$out"
says "the tensor's block in front of the damage" '^      0x[0-9a-f]+ 928 bytes, asked for 900, active_allocated, /home/u/net.py:5 in make$' "$out"
reported "the snapshot of another rank" 0 --snapshot "2:$work/snapshot.pickle" "$work/python.json"
says_not "is not joined" 'segment of PyTorch' "$out"
# Of a run of tests/gpu/torch_snapshot.py on an H100 (PyTorch 2.11), but for the paths.
run=tests/scripts/torch_snapshot
reported "a run's log, with its snapshot" 0 --no-symbols --snapshot "$run/snapshot.pickle" "$run/log.json"
says "its site" '^1\. heap-buffer-overflow: fill torch_snapshot.py:19, from <module> torch_snapshot.py:24$' "$out"
says "its segment" '^    segment of PyTorch.s at 0x7fa70c800000, 20971520 bytes \(large\), from .*snapshot.pickle:$' "$out"
says "the tensor in front of the damage" '^      0x7fa70d700000 5242880 bytes, active_allocated, /home/u/gmod/tests/gpu/torch_snapshot.py:19 in fill$' "$out"
says "where its suspect was launched: PyTorch's line, and the first of the user's own" \
	'launched at [^ ]*/torch/cuda/_utils.py:411 in _CudaKernel.__call__, from /home/u/gmod/tests/gpu/planted.py:24 in load.<locals>.launch$' "$out"
reported "a pickle that would run something" 1 --snapshot "$work/evil.pickle" "$work/python.json"
says "is refused" "^gmod report: .*/evil.pickle: it is no snapshot of PyTorch's: it asks for (_?io|builtins).open" "$err"
[ ! -e "$work/owned" ]
judge "and not run" $?
sed -E 's|^      #0 |      at /home/u/train.py:42 in step\n&|; s|^ +[0-9]+\. vec_add x1 .*|&\n         launched\n           at /home/u/net.py:9 in forward|' \
	"$work/job.2.text" >"$work/python.text"
reported "the same in text" 0 "$work/python.text"
says "its site" '^1\. heap-buffer-overflow: step train.py:42$' "$out"
says "where the suspect was launched, in text" 'launched at /home/u/net.py:9 in forward$' "$out"

# ---- what is wrong with a file ----

expect "where there is no room for what is printed" 1 sh -c "'$top/scripts/gmod' report '$work/job.0.text' >/dev/full"
same "it is said, in a line" "gmod report: standard output: No space left on device" "$err"

head -c 3000 /dev/urandom >"$work/noise"
head -c 700 "$work/job.1.json" >"$work/torn.json"
head -n 5 "$work/job.2.text" >"$work/torn.text"
sed 's/gmod-report-2/gmod-report-9/' "$work/job.3.json" >"$work/newer.json"
reported "bad files beside a good one" 1 --html "$work/torn.html" "$work/noise" "$work/absent" "$work" "$work/torn.json" "$work/torn.text" "$work/newer.json" "$work/job.0.text"
says "the good one is read, and what there is of the torn one" '^2 findings in 2 groups' "$out"
says "which is said to be torn" '^    .* past the end of a .*-byte buffer \(the report is cut short\)$' "$out"
says "so it is on the page" '\(the report is cut short\)' "$(<"$work/torn.html")"
same "a line for each of the others" 6 "$(grep -c '^gmod report: ' <<<"$err")"
says "noise" "/noise: it has no line of GMOD's\$" "$err"
says "absent" '/absent: No such file or directory$' "$err"
says "a folder" ': Is a directory$' "$err"
says "torn JSON" '/torn.json:[0-9]+: a line cannot be read: ' "$err"
says "a torn report" '/torn.text: 1 report is cut short$' "$err"
says "a newer log" '/newer.json:1: a line cannot be read: this gmod does not know gmod-report-9, and [123] more such lines$' "$err"
same "nothing else is said" "" "$(grep -v '^gmod report: ' <<<"$err")"
reported "prose that quotes the first line of a report" 1 README.md
same "is said to be no log, in a line" " gmod report: README.md: it is no log of GMOD's: it has the first line of a report, and nothing of what follows one" "$out $err"
{ echo "epoch 1" && sed -n '/==GMOD: heap-/,/buffer \[/p' "$work/job.2.text" && echo "epoch 2"; } >"$work/amid"
reported "a report that is torn amid the program's output" 1 "$work/amid"
says "is none of prose" '\(the report is cut short\)' "$out"
printed=$(grep -m 1 '"event":"finding"' "$work/job.1.json")
echo "==7==GMOD: the command of on_finding ended with status 1: ${printed%\}}..." | cat "$work/job.0.text" - >"$work/quoted"
reported "what a command of on_finding printed" 0 "$work/quoted"
same "is neither torn JSON nor a finding" " 1 finding in" "$err $(grep -oE '^[0-9]+ findings? in' <<<"$out")"
echo "==7==GMOD: the command of on_finding ended with status 1: $printed" | cat "$work/job.0.text" - >"$work/quoted"
reported "the same, of a short report" 0 "$work/quoted"
same "is none, too" " 1 finding in" "$err $(grep -oE '^[0-9]+ findings? in' <<<"$out")"
reported "no log at all" 1 --html "$work/nothing.html" "$work/noise" "$work/absent"
same "no count of findings then" "" "$out"
says "nor on the page, which says why in red" '<h1 class="where">GMOD: no log could be read</h1><p class="where">[^<]*/noise: ' "$(<"$work/nothing.html")"
says_not "nor on the page: no zero" '0 findings' "$(<"$work/nothing.html")"
cp "$work/job.0.text" "$work/kept.text"
reported "a page whose name was forgotten" 1 --html "$work/kept.text" "$work/job.1.json"
says "it is refused" '/kept.text is there, and no page of GMOD.s: not written over$' "$err"
cmp -s "$work/kept.text" "$work/job.0.text"
judge "and the log is as it was" $?
: >"$work/empty.html"
reported "a page in the place of an empty file" 0 --html "$work/empty.html" "$work/job.0.text"
reported "a page again" 0 --html "$work/page.html" "$work"/job.*
reported "a folder of modules that is not there" 2 --modules "$work/absent" "$work/job.0.text"
says "which" '^gmod report: argument --modules: .*/absent is no folder; see gmod report --help$' "$err"
reported "a symboliser that is not there" 2 --symbolizer "$work/absent" "$work/job.0.text"
says "which one" '^gmod report: argument --symbolizer: .*/absent is no program; see gmod report --help$' "$err"
reported "no file" 2
same "how to use it, in a line" "gmod report: the following arguments are required: file; see gmod report --help" "$err"
sed -E 's/\[finding ([0-9]+)\]/[finding \1, provisional, a final report follows]/; /^SUMMARY/d' "$work/job.2.text" >"$work/provisional"
mkdir "$work/without"
for tool in sh dirname readlink sed sort tail getconf; do
	ln -s "$(command -v "$tool")" "$work/without/"
done
expect "without python3" 2 env "PATH=$work/without" scripts/gmod report "$work/job.0.text"
same "what it needs" "gmod: gmod report needs python3" "$err"
reported "a provisional report alone" 0 "$work/provisional"
says "counts" ' \(provisional: no final report came\)$' "$out"
sed '/"event":"finding"/{h; s/"final"/"provisional"/; p; g;}' "$work/job.1.json" >"$work/twice-told.json"
reported "a provisional report and its final one" 0 "$work/twice-told.json"
says "are one finding" '^1 finding in 1 group' "$out"
for form in json text; do
	mkdir "$work/caught.$form"
	(cd "$work/caught.$form" && GMOD_TEST_KERNELS=$build/sim/kernels.so \
		guarded "log_format=$form:log_path=report.log:backend=device" "$build/sim/programs/bad_caught")
	reported "a launch that was caught, in $form" 0 "$work/caught.$form/report.log"
	says "is no finding of its own" '^1 finding in 1 group' "$out"
	says "stands with its finding" '^    caught: k_fill<<<\(1,1,1\),\(64,1,1\)>>>, launch [0-9]+ of its thread$' "$out"
	reported "as a page" 0 --html "$work/caught.html" "$work/caught.$form/report.log"
	says "the page has it" '<b>caught: k_fill' "$(<"$work/caught.html")"
done
sed 's/gmod-report-2/gmod-report-1/' "$work/job.1.json" >"$work/older.json"
reported "a log of another schema" 1 "$work/older.json"
says "says which" '/older.json:[0-9]+: a line cannot be read: this gmod does not know gmod-report-1' "$err"
sed 's/"size":4000/"size":"4000"/' "$work/job.1.json" >"$work/odd.json"
reported "a line that is not as the schema says" 1 "$work/odd.json"
says "says why" "/odd.json:[0-9]+: a line cannot be read: line.size: '4000' is no integer or null\$" "$err"

# ---- SARIF and JSON ----

scripts/gmod report --sarif "$work"/job.* "$work/python.json" >"$work/report.sarif"
python "SARIF has what its schema requires" <<PYTHON
import json
log = json.load(open("$work/report.sarif"))
assert log["version"] == "2.1.0" and "sarif" in log["\$schema"], log["version"]
def location(one):
    physical = one.get("physicalLocation")
    assert physical or one["logicalLocations"][0]["fullyQualifiedName"]
    if physical:
        assert " " not in physical["artifactLocation"]["uri"] and physical["region"]["startLine"] > 0
(run,) = log["runs"]
assert run["tool"]["driver"]["name"] == "GMOD"
rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
assert len(run["results"]) == 2 and rules == ["heap-buffer-overflow"]
for result in run["results"]:
    assert result["ruleId"] in rules and result["message"]["text"] and result["level"] == "error"
    assert result["occurrenceCount"] > 0 and len(result["partialFingerprints"]["gmodSite/v1"]) == 16
    for one in result["locations"] + result.get("relatedLocations", []):
        location(one)
    for stack in result["stacks"]:
        for frame in stack["frames"]:
            location(frame["location"])
first, second = run["results"]
assert first["locations"][0]["physicalLocation"]["region"]["startLine"] == $line
assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file://$top/tests/demo/demo.c"
assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///home/u/train.py"
(launch,) = second["relatedLocations"]
assert launch["physicalLocation"]["region"]["startLine"] == 9, launch
PYTHON
scripts/gmod report --json "$work"/job.* >"$work/report.json"
python "JSON" <<PYTHON
import json
value = json.load(open("$work/report.json"))
(group,) = value["groups"]
assert group["count"] == group["processes"] == 16 and group["site"]["line"] == $line
other = json.loads('$(scripts/gmod report --json "$work/job.3.json" | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["groups"][0]["fingerprint"]))')')
assert group["fingerprint"] == other, other
assert group["hosts"] == [{"host": "alpha", "ranks": list(range(8))}, {"host": "beta", "ranks": list(range(8, 16))}]
for finding in group["findings"]:
    for suspect in finding["suspects"] if finding["schema"] else ():
        assert finding["buffer"]["allocated"]["time"] <= suspect["launched"] <= finding["corruption"]["seen"], suspect
        assert finding["gpu"] == "GPU-5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a00" and finding["command"].endswith("build/demo/demo")
for finding in group["findings"]:
    corruption, allocated = finding["corruption"], finding["buffer"]["allocated"]["time"]
    assert corruption["intact"] < corruption["seen"] <= finding["time"] >= allocated, finding
assert len(value["processes"]) == 16 and all(p["findings"] == 1 and p["guarded_permille"] == 1000 for p in value["processes"])
PYTHON

# ---- the page ----

python "a log that would break out" <<PYTHON
import json
finding = json.loads(next(line for line in open("$work/job.1.json") if '"finding"' in line))
evil = "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>\"'"
kept = {"schema", "event", "status", "class", "base", "memory", "point", "stream", "observed", "expected", "site_hash", "gpu", "build_id"}
def spoil(value):
    if isinstance(value, dict):
        return {key: item if key in kept else spoil(item) for key, item in value.items()}
    if isinstance(value, list):
        return [spoil(item) for item in value]
    return value + evil if isinstance(value, str) and not value.startswith(("20", "0x")) else value
evil += "\x1b[31m\u202e\ud800"
open("$work/evil.json", "w").write(json.dumps(spoil(finding), separators=(",", ":")) + "\n")
PYTHON
reported "such a log" 0 --html "$work/evil.html" "$work/evil.json"
reported "a page of all kinds" 0 --html "$work/all.html" --snapshot "$work/snapshot.pickle" "$work/python.json" "$work"/job.* \
	"$work"/twice.json
for page in page evil all; do
	python "the page $page: well formed, nothing from outside, nothing that runs" <<-PYTHON
		from html.parser import HTMLParser
		import re
		known = set("""html head meta title style script body header h1 h2 h3 ol ul li dl dt dd a b p span div section details summary table tr th td
		            pre input svg defs pattern path rect line text""".split())
		class Page(HTMLParser):
		    open = []
		    words = ""
		    def handle_startendtag(self, tag, attributes):
		        assert tag in ("meta", "input"), tag
		    def handle_starttag(self, tag, attributes):
		        assert tag in known, tag
		        for name, value in attributes:
		            assert not name.startswith("on") and name not in ("src", "style", "xlink:href"), (tag, name)
		            assert name != "href" or re.match(r"#g\d+(f\d+)?$", value), value
		        self.open.append(tag)
		    def handle_endtag(self, tag):
		        assert self.open.pop() == tag, tag
		    def handle_data(self, data):
		        self.words += data
		page = Page()
		text = open("$work/$page.html", encoding="utf-8").read()
		page.feed(text)
		page.close()
		assert not page.open and "url(" not in text.replace("fill: url(#hatch)", "") and text.count("<script") == ("$page" == "all") and "@import" not in text
		assert "default-src 'none'" in text
		assert "$page" == "evil" or not re.search(r"https?:", text), re.search(r".{40}https?:.{40}", text)
		assert "$page" != "evil" or "<script>alert(1)</script>" in page.words
		assert "$page" != "page" or ("vec_add" in page.words and "demo.c:$line" in page.words and "first seen changed" in page.words)
		assert "$page" != "all" or ("net.py:5 in make" in page.words and "active_allocated" in page.words)
		assert "$page" != "all" or "latest: alloc 900 bytes at 0x" in page.words
	PYTHON
done

# Lines that GMOD has put to a frame by itself.
cat >"$work/lines.log" <<-'TEXT'
	==4711==GMOD: heap-buffer-overflow: 1 byte changed, 0 bytes past the end of a 4-byte buffer [finding 1]
	    buffer [0x7f0000000000, 0x7f0000000004) on device 0, backend device, allocation #1, allocated 0.001 s ago by thread 1
	      #0 outer  libstdc++.so.6+0x34  /a b/inner.h:12 in inner, inlined at /a b/outer.c:13
	      #1 main  app+0x35  main.c:14
	      #2 0x36
	    next step: compute-sanitizer
	SUMMARY: GMOD: heap-buffer-overflow device 0 size 4 offset +0 outer libstdc++.so.6+0x34
TEXT
reported "lines in a text" 0 --no-symbols "$work/lines.log"
same "they are read" "#0 inner  /a b/inner.h:12 (inlined)|#0 outer  /a b/outer.c:13|#1 main  main.c:14|#2 ?  0x36" \
	"$(sed -n 's/^ *#/#/p' <<<"$out" | paste -s -d '|')"

# browser PAGE: opens it in a browser without a window; $out is the page as it stands then, $err what went wrong in it.
browser() {
	outcome timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run \
		--disable-component-update --user-data-dir="$work/browser" --enable-logging=stderr --log-net-log="$work/net.json" \
		--dump-dom "file://$1"
}

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$chromium" ]; then
	for page in page evil all; do
		browser "$work/$page.html"
		says "a browser shows the page $page" '<h1>GMOD: [0-9]+ findings? in [0-9]+ groups?</h1>' "$out"
		says_not "without an error" 'CONSOLE' "$err"
		same "and without a request" "" "$(grep -oE '"url":"[^"]*"' "$work/net.json" |
			grep -vE '"file:|//[a-z0-9.]+\.(google|googleapis|gvt1)\.com/')"
	done
	says "its one script runs: there is a search" '<input id="search" type="search" placeholder="search">' "$out"
else
	skip "a browser" "no browser is installed"
fi
finish
