#!/usr/bin/env bash
# What bench/run makes of its arguments, and the parts of the bench that keep records of their own. Over stand-ins, which
# measure nothing, in a copy of the bench: no result of this goes to bench/results.
. "$(dirname "$0")/testlib"
needs_python3
tree=$work/tree
mkdir -p "$work/bin" "$tree/build/bench"
cp -r bench "$tree"
rm -r "$tree/bench/results"
export BUILD=$tree/build GMOD_COMMIT=0123456789
unset QUICK MORE MIB SANITIZE

# stand_in PATH: the script on standard input.
stand_in() {
	mkdir -p "$(dirname "$1")"
	{
		echo '#!/bin/sh'
		cat
	} >"$1"
	chmod +x "$1"
}
stand_in "$work/bin/nvidia-smi" <<'TOOL'
case $* in
*=name*' -i '*) echo "${*##* }" ;;
*=name*) printf '%s\n' ${DEVICES-A-GPU A-GPU} ;;
*) echo 580.1 ;;
esac
TOOL
stand_in "$work/bin/nvcc" <<<'echo "Cuda compilation tools, release 13.0, V13.0.88"'
stand_in "$work/bin/make" <<'TOOL'
echo "$*" >>"$BUILD/made"; echo "no rule"; exit ${CANNOT:-0}
TOOL
${CC:-gcc} -shared -o "$tree/build/libgmod.so" -x c /dev/null
export PATH=$work/bin:$PATH NVCC=$work/bin/nvcc

# bench PART...: in the copy; what the record of the last part says is $page.
bench() {
	outcome "$tree/bench/run" "$@"
	page=$(cat "$tree/bench/results/${*: -1}.md" 2>/dev/null)
}

# ---- what is refused ----

for wrong in "nothing" "coarse:one" "inkernel:one"; do
	bench "$wrong"
	same "there is no part or section $wrong" "2 " "$status $out"
	one_line "which is said: $wrong" "$err"
done
DEVICES='' bench inkernel
same "no GPU" "77 bench: no NVIDIA GPU here (nvidia-smi lists none)" "$status $err"
DEVICES='' bench coarse
same "no GPU for pairs" 77 "$status"
LD_LIBRARY_PATH=/usr/lib:$tree/build/sim bench latency
same "no figures of the simulated driver" 2 "$status"
says "which is said" 'simulated driver' "$err"
CANNOT=2 bench inkernel
same "what cannot be built" 2 "$status"
says "and what make said" 'no rule' "$err"
same "nothing is recorded then" "" "$page"

# ---- memory that kernels allocate ----

stand_in "$tree/build/bench/inkernel" <<'PROGRAM'
[ "$LD_PRELOAD" ] && gmod=yes || gmod=
case $2:$gmod in cuda: | gmod:yes) ;; *) exit 3 ;; esac
case $1:$3 in
program:malloc) [ ! "$gmod" ] || { echo "out of luck" >&2; exit 5; } ;;
program:add-string) [ ! "$gmod" ] || { echo "FAIL add-string: no"; exit 1; } ;;
esac
took=2 findings=0
[ ! "$gmod" ] || took=1
case $1 in
program) echo "case=$3 block=128 threads=1024 repeats=3 kernel_ms=$took.5 quiet_ms=$took.75 checksum=7" ;;
latency) echo "buffers=$3 beside_ms=$took.25 trials=9 median_ms=1.5 max_ms=7.5" ;;
stress) echo "pairs=$3 seconds=1.5 pairs_per_s=7e6 failed=$findings held=7 heap_mib=64 peak_mib=9 passes=4 options=$GMOD_OPTIONS" ;;
esac
PROGRAM

bench inkernel
same "a part with failures: exit status" 1 "$status"
same "it is built first" "all bench-programs" "$(tail -n 1 "$tree/build/made" | sed 's/^-j[0-9]* //')"
says "the page says what it is" '^# Memory that kernels allocate$' "$page"
for line in 'device: 2 x A-GPU' 'driver: 580.1' 'CUDA: 13.0' 'commit: 0123456789'; do
	says "the page has its $line" "^- $line\$" "$page"
done
same "sections in their order" "programs malloc latency stress" "$(sed -n 's/^## //p' <<<"$page" | xargs)"
says "a program: CUDA, A/A, GMOD's heap" '^\| grid-point \| 128 \| 1 024 \| 2[.]50 \(2[.]50 to 2[.]50\) \| [+]0[.]0 % \| 1[.]50 \(1[.]50 to 1[.]50\) \| 1[.]67x \| 1[.]75 \(1[.]75 to 1[.]75\) \| 1[.]43x ' "$page"
same "each arm in each round, in turns" "cuda slab again slab again cuda again cuda slab" \
	"$(sed -n 's/^round=[123] arm=\([a-z]*\) case=grid-point .*/\1/p' <<<"$out" | xargs)"
says "a program that fails" '^- FAIL: round=1 arm=slab: program gmod add-string: add-string: no$' "$page"
says "one that does not say how" '^- FAIL: round=2 arm=slab: program gmod malloc: exit status 5: out of luck$' "$page"
says "a case without a figure of GMOD's" '^- not measured: slab, alloc-dealloc, 102 400 threads in blocks of 1024, to the end of the kernel: - ' "$page"
says "and with too few cases" '^- not measured: slab, never slower than CUDA: least 1[.]667x, .* 4 of 60 cases so far$' "$page"
says "latency beside that of CUDA" '^\| 10 000 \| 32 \| 1[.]50 \| 7[.]50 \| 1[.]25 \| 2[.]25 \|$' "$page"
says "stress" '^\| slab \| 100 000 000 \| 7e6 \| 1[.]5 \| 0 \| 7 \| 9 \| 64 \| 4 \|$' "$page"
says "under the options of the case" 'options=device_heap=slab:device_heap_mb=2048:log_path=.*:device_heap_mb=64$' "$out"
tally=$(grep -E '^[0-9]+ met, [0-9]+ missed, [0-9]+ not measured, [0-9]+ failed$' <<<"$page")
one_line "the page counts its verdicts" "$tally"
same "as many failures as there are" "$(grep -c '^- FAIL:' <<<"$page") failed" "${tally##*, }"
says "said at the end, too" "^bench: $tally: .*bench/results/inkernel[.]md\$" "$out"
same "and what is not met, by itself" "$(grep -cE '^- (FAIL|missed|not measured):' <<<"$page")" "$(grep -cE '^bench: (FAIL|missed|not measured):' <<<"$out")"

# at SECTION: what the page has there.
at() {
	sed -n "/^## $1/,/^## /p" "$tree/bench/results/inkernel.md"
}
before=$(at programs)
sed -i 's/took=1/took=4/' "$tree/build/bench/inkernel"
bench inkernel:latency
same "a section by itself" 0 "$(grep -c '^round=' <<<"$out")"
says "is measured anew" '10 000 \| 32 \| 1[.]50 \| 7[.]50 \| 4[.]25 \| 2[.]25' "$(at latency)"
same "the others stay at this commit" "$before" "$(at programs)"
GMOD_COMMIT=other bench inkernel:latency
same "and not at another" "" "$(at programs)"
DEVICES=one GMOD_COMMIT=other bench inkernel:stress
same "nor on other devices" "" "$(at latency)"
same "without failures the exit status is" 0 "$status"

# ---- under compute-sanitizer ----

stand_in "$work/bin/compute-sanitizer" <<'TOOL'
tool=$2
shift 4
case $tool:$LD_PRELOAD in
memcheck:)
	echo "========= Invalid __global__ read"
	echo "========= ERROR SUMMARY: 2 errors"
	exit 9
	;;
esac
[ "$tool" != "$SLOW" ] || exit 4
"$@"
echo "========= ${tool}: SUMMARY: 0 hazards"
TOOL
bench sanitizer
same "the tools: exit status" 0 "$status"
says "what memcheck makes of CUDA's malloc" "^- memcheck, CUDA's malloc, without GMOD: ERROR SUMMARY: 2 errors; exit status 9; first: Invalid __global__ read\$" "$page"
says "is shown" '^========= Invalid' "$out"
says "and of GMOD's" '^- met: memcheck, slab: memcheck: SUMMARY: 0 hazards \(pairs=20000 .*\)$' "$page"
SLOW=racecheck bench sanitizer:racecheck
same "a tool that fails: exit status" 1 "$status"
says "is a failure" '^- FAIL: racecheck, slab: exit status 4$' "$(cat "$tree/bench/results/sanitizer.md")"
rm "$work/bin/compute-sanitizer"
if ! PATH=/usr/bin:/bin command -v compute-sanitizer >/dev/null; then
	CUDA_HOME=$work/absent PATH=$work/bin:/usr/bin:/bin bench sanitizer
	says "without the tool" '^- not measured: memcheck: there is no compute-sanitizer here$' "$page"
	same "is no failure" 0 "$status"
fi

# ---- pairs ----

stand_in "$tree/build/gpu/programs/figure_idle" <<'TOOL'
echo wakeups_per_s=2; exit ${IDLE:-0}
TOOL
QUICK=1 IDLE=1 bench monitor
same "pairs: exit status" 1 "$status"
same "they have their programs built" "all bench-programs bench-figures" "$(tail -n 1 "$tree/build/made" | sed 's/^-j[0-9]* //')"
same "and say what they are of" "2 x A-GPU 580.1 13.0 0123456789 True" \
	"$(python3 -c "import json, glob; r = json.load(open(glob.glob('$tree/bench/results/*-quick.json')[0]))
print(*(r[key] for key in ('device', 'driver', 'cuda', 'commit', 'quick')))")"
MORE=1 GMOD_COMMIT=unknown bench monitor
same "MORE=1 is passed on" 2 "$status"
says "to be refused" 'joins pairs of one commit' "$err"
QUICK=0 MORE=0 bench corun inkernel:nothing
same "a part of pairs, then a section that there is not" 2 "$status"
says "in this order" '^bench: inkernel has no section nothing$' "$err"

# ---- on a CPU alone ----

stand_in "$tree/build/bench/sweep" <<'PROGRAM'
case $1 in
1000000) echo "buffers=$3 asked=$1 limit_mib=$3" ;;
10000) echo "FAIL no memory"; exit 1 ;;
100) exit 3 ;;
*) echo "buffers=$1 asked=$1 limit_mib=$3" ;;
esac
echo "buffers=$1 order=$2 pace=continuous sweeps=9 ns_per_buffer=30.00 least=30.00 most=40.00 us_per_sweep=5.00 lines_alone=2.50"
PROGRAM
# on_cpu ARGUMENT...
on_cpu() {
	outcome python3 "$tree/bench/cpu.py" "$@"
	page=$(cat "$tree/bench/results/cpu.md" 2>/dev/null)
}
MIB=77 on_cpu
same "sweeps: exit status" 1 "$status"
says "they are of this CPU" '^- device: .* \(family .*, model .*\), [0-9]+ CPUs' "$page"
says "and compiler" '^- compiler: .' "$page"
says "and load" '^- load: [0-9.]+ [0-9.]+ [0-9.]+ when it began$' "$page"
says "within the memory asked for" '^1 000 000 buffers have no room for their canary pages in 77 MiB: 77 instead[.]$' "$page"
says "what fails" '^- FAIL: 10000 buffers, shuffled: no memory$' "$page"
says "and without a word" '^- FAIL: 100 buffers, allocated: exit status 3$' "$page"
says "the verdict" '^- met: 100 000 buffers, shuffled, continuous: 30[.]0 ns' "$page"
says "and what others took" '^Of the time that this machine.s CPUs were wanted, [0-9.]+ % went' "$page"
SANITIZE=thread on_cpu
same "no figures of an instrumented library" 2 "$status"
on_cpu more
same "no argument" 2 "$status"
rm "$tree/build/bench/sweep"
on_cpu
same "no program" 2 "$status"
one_line "which is said" "$err"

# ---- cut off ----

stand_in "$tree/build/bench/inkernel" <<'TOOL'
echo $$ >"$BUILD/pid"; exec sleep 60
TOOL
for signal in INT TERM; do
	rm -f "$tree/build/pid"
	"$tree/bench/run" inkernel:stress >/dev/null 2>&1 &
	runner=$! i=0
	while [ ! -s "$tree/build/pid" ] && [ $i -lt 300 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	kill -s $signal $runner
	wait $runner
	same "SIG$signal: exit status" 130 $?
	! kill -0 "$(cat "$tree/build/pid")" 2>/dev/null
	judge "SIG$signal: no process is left behind" $?
done

# ---- what scripts ask of the machine ----

same "the commit" 0123456789 "$(python3 bench/machine.py commit)"
same "the device" "1 x A, 2 x B" "$(DEVICES='B A B' python3 bench/machine.py device)"
same "the one that is visible" "1 x 3" "$(CUDA_VISIBLE_DEVICES=3 python3 bench/machine.py device)"
same "what is unknown is none" "" "$(NVCC=$work/absent python3 bench/machine.py cuda)"
outcome python3 bench/machine.py weather
same "nothing else" 1 "$status"
finish
