#!/usr/bin/env bash
# gmod report tells faults of the GPU: the same of logs in text and in JSON, the first one first, and the instruction in
# words where there is an nvdisasm.
. "$(dirname "$0")/testlib"
needs_python3
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID RANK LOCAL_RANK

# An nvdisasm that is installed is not asked: $work/bin is all of PATH.
mkdir "$work/bin"
for tool in sh bash dirname readlink sed sort tail getconf python3 cat; do
	ln -s "$(command -v "$tool")" "$work/bin/"
done

# reported NAME STATUS ARGUMENT...: what gmod report prints is $out.
reported() {
	expect "$1" "$2" env "PATH=$work/bin" scripts/gmod report "${@:3}"
}

# stand_in: standard input is the nvdisasm on PATH.
stand_in() {
	cat >"$work/bin/nvdisasm"
	chmod +x "$work/bin/nvdisasm"
}

for rank in 0 1; do
	for form in text json; do
		RANK=$rank "$build/unit/test_report_fault" --report "log_format=$form" 2>"$work/$rank.$form"
		# Rank 1 has its faults at 12:00:00.5, rank 0 at noon.
		sed -i -E "s/ at 20[0-9-]+ [0-9:.]+ UTC/ at 2026-11-28 12:00:00.${rank}00000 UTC/; s/(\"class\":\"gpu-fault\",\"time\":)\"[^\"]*\"/\1\"2026-11-28T12:00:00.${rank}00000000Z\"/
			s/process: host [^,]*,/process: host alpha,/; s/\"host\":\"[^\"]*\"/\"host\":\"alpha\"/" "$work/$rank.$form"
	done
done
tests/valid-json "$work/0.json" >"$work/wrong"
judge "its JSON is as the schema says" $? "$(cat "$work/wrong")"

# ---- what is told ----

reported "faults of two ranks" 0 --html "$work/page.html" "$work/1.text" "$work/0.json"
text=$out page=$(cat "$work/page.html")
says "each place is a group" '^8 findings in 4 groups, from logs of 2 processes$' "$text"
says "its title has the line, and who inlined it" '^[1-4]\. gpu-fault: row row.cuh:7, from scale_kernel scale.cu:20$' "$text"
says "or else the instruction" '^[1-4]\. gpu-fault: another_kernel\+0x170$' "$text"
says "or nothing" '^[1-4]\. gpu-fault: scale_kernel$|^[1-4]\. gpu-fault: a kernel that is not known$' "$text"
says "what it was" '^    illegal address: read of 16 bytes, 1024 bytes past the end of a 4000-byte buffer$' "$text"
same "then all that is known" "    in kernel scale_kernel, at /home/u/row.cuh:7 in row
      inlined at /home/u/scale.cu:20
    instruction scale_kernel+0x170 at 0x7fab00000170 0x0000000402047981 0x000ea8000c1e1900 of sm_90, the first of 2 that faulted
    block (1024,0,0), thread (64,0,0); 32 threads of that warp, 6 warps in all
    grid of 2048 blocks of 128 threads, launched by thread 4243
    parameters: 0102ff
    address 0x7f1f300013a0
    the program's context is lost (exception 14 of the driver)
    the first fault, on rank 0 on alpha, at 12:00:00.000000
    later, on rank 1 on alpha, by 0.100 s" "$(sed -n '/past the end/,/^    allocated/p' <<<"$text" | sed '1d;$d')"
says "where nobody stands" '^    which thread it was is not known: its warp had left$' "$text"
says "its launches" '^    launches of the kernel: scale_kernel: launched in all of 2 findings$' "$text"
says "how to suppress it" '^    or, for the file of suppressions \(covers 4 of 8 findings\): gpu-fault:scale_kernel$' "$text"
says "on the page, too" '<li>block \(1024,0,0\), thread \(64,0,0\); 32 threads of that warp, 6 warps in all</li>' "$page"
says "and in its order" '<li>later, on rank 1 on alpha, by 0.100 s</li>' "$page"
for form in text json; do
	reported "$form alone" 0 --no-symbols "$work/0.$form"
	says "$form: who has allocated" '^      #[01] the_caller  test_report_fault\+0x' "$out"
done
reported "in SARIF" 0 --sarif "$work/1.text" "$work/0.json"
says "SARIF: the place" '"startLine": 7$' "$out"
says "SARIF: the words" 'in kernel scale_kernel' "$out"
reported "one fault alone" 0 "$work/0.json"
sed '/another_kernel/!d' "$work/0.json" >"$work/one.json"
reported "one process, one fault" 0 "$work/one.json"
says_not "is not compared with others" 'the first fault' "$out"

python "text and JSON say the same" <<PYTHON
import sys
sys.path.insert(0, "scripts/report")
import logs
events, problems = logs.read(["$work/0.json", "$work/0.text"])
assert not problems, problems
faults = [e["fault"] for e in events if e["event"] == "finding"]
assert len(faults) == 8
for json, text in zip(faults[:4], faults[4:]):
    for key, value in text.items():
        said = key not in ("symbol", "parameters") and not (value is None and not json[key]) and not (key == "places" and json[key] == 1)
        assert not said or value == json[key] or json["pc"] is None, (key, value, json[key])
PYTHON

# ---- order ----

sed 's/12:00:00.0/12:00:09.0/g' "$work/0.json" >"$work/late.json"
reported "where the first process was another" 0 "$work/late.json" "$work/1.json"
says "it is the first" '^    the first fault, on rank 1 on alpha, at 12:00:00.100000$' "$out"
says "the other is later" '^    later, on rank 0 on alpha, by 8.900 s$' "$out"
sed 's/another_kernel/elsewhere/g' "$work/one.json" >"$work/elsewhere.json"
sed -i 's/12:00:00.0/12:00:01.0/g; s/"rank":0/"rank":2/; s/"pid":/"pid":1/' "$work/elsewhere.json"
reported "a later fault in another kernel" 0 "$work/elsewhere.json" "$work/one.json"
says "comes behind the first" '^2\. gpu-fault: elsewhere\+0x170$' "$out"
says "by so much" '^    later, on rank 2 on alpha, by 1.000 s$' "$out"
for rank in {10..29}; do
	sed "s/\"rank\":0/\"rank\":$rank/; s/\"pid\":/\"pid\":$rank/; s/12:00:00.0/12:00:$rank.0/" "$work/one.json"
done >"$work/many.json"
reported "twenty ranks" 0 "$work/many.json"
same "eight are told" 7 "$(grep -c '^    later, on rank' <<<"$out")"
says "the others are counted" '^    and 12 more$' "$out"

# ---- the instruction in words ----

stand_in <<'TOOL'
#!/bin/bash
[ "$1 $2" = "-b SM90" ] || exit 1
python3 -c 'import sys; assert open(sys.argv[1], "rb").read().hex() == "817904020400000000191e0c00a80e00"' "$3" || exit 1
printf '\t.headerflags\t@"EF_CUDA_SM90"\n        /*0000*/                   LDG.E R4, desc[UR4][R2.64] ;\n'
TOOL
reported "with an nvdisasm" 0 --html "$work/page.html" "$work/0.json"
says "the instruction is in words" ' of sm_90 \(LDG\.E R4, desc\[UR4\]\[R2\.64\]\), the first of 2 that faulted$' "$out"
says "on the page, too" 'LDG\.E R4, desc' "$(cat "$work/page.html")"
reported "of a log in text" 0 "$work/0.text"
says "it is as well" ' of sm_90 \(LDG\.E R4, ' "$out"
reported "with --no-symbols" 0 --no-symbols "$work/0.json"
says_not "nobody is asked" 'LDG' "$out"
printf '#!/bin/sh\necho "nvdisasm error   : Illegal instruction found"\nexit 255\n' | stand_in
reported "with one that does not know it" 0 "$work/0.json"
says "there are none, in silence" '0x000ea8000c1e1900 of sm_90, the first' "$out"
same "not a word of it" "" "$err"
ln -s "$(command -v sleep)" "$work/bin/"
printf '#!/bin/sh\nexec sleep 60\n' | stand_in
begin=$SECONDS
reported "with one that hangs" 0 "$work/one.json"
[ $((SECONDS - begin)) -lt 40 ]
judge "it is not waited for" $? "$((SECONDS - begin)) s"

finish
