#!/usr/bin/env bash
# gmod --supervise and gmod-tensorflow: the job's exit and signals, the environment, and the share that was guarded.
. "$(dirname "$0")/testlib"
gmod=$top/scripts/gmod
tensorflow=$top/scripts/gmod-tensorflow
export TMPDIR=$work
unset TF_FORCE_GPU_ALLOW_GROWTH TF_GPU_ALLOCATOR

# ---- the job is what it would be alone ----

expect "exit status of the job" 37 "$gmod" --supervise sh -c 'exit 37'
expect "killed by a signal, so is the supervisor" 143 bash -c "'$gmod' --supervise sh -c 'kill -TERM \$\$'"
expect "not found" 127 "$gmod" --supervise no-such-command
one_line "not found: said in one line" "$err"
same "standard input arrives" "hello" "$(echo hello | "$gmod" --supervise cat 2>/dev/null)"
outcome "$gmod" --supervise sh -c 'echo out; echo err >&2'
same "standard output is the job's" "out" "$out"
says "standard error is the job's" '^err$' "$err"
outcome "$gmod" --supervise printf '<%s>' 'a b' '' '*'
same "arguments arrive as they are" '<a b><><*>' "$out"

# forwards SIGNAL: a job that traps it ends with 40 when the supervisor is sent it.
forwards() {
	"$gmod" --supervise sh -c "trap 'exit 40' $1; echo ready; i=0; while [ \$i -lt 200 ]; do sleep 0.05; i=\$((i + 1)); done" \
		>"$work/ready" 2>/dev/null &
	local supervisor=$! i=0
	while [ ! -s "$work/ready" ] && [ $i -lt 200 ]; do
		sleep 0.02
		i=$((i + 1))
	done
	kill -s "$1" $supervisor
	wait $supervisor
	same "SIG$1 is passed on" 40 $?
	: >"$work/ready"
}
for signal in TERM HUP USR1 USR2; do
	forwards $signal
done

if command -v python3 >/dev/null; then
	# A shell starts background jobs with SIGINT ignored, so a parent that is none asks.
	expect "SIGINT is not ignored in the job, and is passed on" 0 python3 - "$gmod" <<'PYTHON'
import signal, subprocess, sys
job = "import time\ntry:\n print('ready', flush=True)\n time.sleep(20)\nexcept KeyboardInterrupt:\n raise SystemExit(41)"
p = subprocess.Popen([sys.argv[1], "--supervise", sys.executable, "-c", job], stdout=subprocess.PIPE)
p.stdout.readline()
p.send_signal(signal.SIGINT)
sys.exit(0 if p.wait() == 41 else 1)
PYTHON
fi

# ---- what it says afterwards ----

# A stand-in for a guarded process: leaves the counts that GMOD would, where GMOD would.
cat >"$work/job" <<'JOB'
#!/bin/sh
tally=$(printf '%s' "$GMOD_OPTIONS" | sed -n 's/.*:tally=\([^:]*\)$/\1/p')
while [ $# -gt 0 ]; do
	echo "$1" >>"$tally"
	shift
done
exit 5
JOB
chmod +x "$work/job"

expect "with counts: exit status" 5 "$gmod" --supervise "$work/job" "12288 15360"
says "the share" '^gmod: 80\.0 % of the job.s device memory was guarded .12\.0 KiB of 15\.0 KiB, in 1 process.$' "$err"
one_line "and nothing else is said" "$err"
outcome "$gmod" --supervise "$work/job" "12288 15360" "12288 16384"
says "two processes add up" '^gmod: 77\.4 % .*in 2 processes' "$err"
outcome "$gmod" --supervise "$work/job" "50331647 50331648" "50331648 50331648"
says "100 % only of everything" '^gmod: 99\.9 % .*in 2 processes' "$err"
outcome "$gmod" --supervise "$work/job" "9000000000000000000 9000000000000000000"
says "and of as much as there may be" '^gmod: 100\.0 % ' "$err"
outcome "$gmod" --supervise "$work/job" "0 0"
says "of nothing no share is said" '^gmod: the job asked for no device memory' "$err"
outcome "$gmod" --supervise "$work/job" "0 0" "12288 15360"
says "and it changes nothing in that of others" '^gmod: 80\.0 % .*in 2 processes' "$err"
TMPDIR="$work/a:b" outcome "$gmod" --supervise "$work/job" "12288 15360"
says "a TMPDIR that no option can name" '^gmod: 80\.0 % ' "$err"
TMPDIR="$work/none" expect "a TMPDIR that is none: exit status" 5 "$gmod" --supervise sh -c 'exit 5'
says "is said" 'cannot make a file for the counts .No such file or directory.: how much was guarded stays unknown' "$err"
outcome "$gmod" --supervise true
says "a job without CUDA" 'how much was guarded is not known: no process' "$err"
same "no file is left behind" "" "$(find "$work" -name 'gmod.*')"

# A guarded program's own summary, on the simulated driver.
demo=$build/demo/demo
export LD_LIBRARY_PATH=$build/sim GMOD_TEST_KERNELS=$build/demo/kernels.so
all='^gmod-tensorflow: 100\.0 % of the job.s device memory was guarded .11\.[67] KiB of 11\.[67] KiB, in 1 process.$'
expect "a guarded program" 0 "$tensorflow" "$demo"
says "its report reaches stderr" '^SUMMARY: GMOD: heap-buffer-overflow ' "$err"
says "its counts are read" "$all" "$err"
outcome "$tensorflow" --log_format=json "$demo"
says "whatever its log's format" "$all" "$err"
outcome "$tensorflow" --log_path="$work/%h.%p.log" "$demo"
says "and wherever that is" "$all" "$err"
says_not "where the report went too" 'SUMMARY' "$err"
outcome "$tensorflow" --verbosity=0 "$demo"
says "without a summary too" "$all" "$err"
outcome "$tensorflow" --backend=native "$demo"
says "nothing guarded, nothing claimed" '^gmod-tensorflow: 0\.0 % ' "$err"
expect "a program that is halted" 86 "$tensorflow" --halt_on_error=1 "$demo"
says "its counts are read all the same" "$all" "$err"
outcome "$tensorflow" sh -c "'$demo'; '$demo'"
says "several processes" '^gmod-tensorflow: 100\.0 % .*in 2 processes' "$err"

# ---- TensorFlow's variables ----

outcome "$tensorflow" printenv TF_FORCE_GPU_ALLOW_GROWTH
same "growth is set" true "$out"
TF_FORCE_GPU_ALLOW_GROWTH=false outcome "$tensorflow" printenv TF_FORCE_GPU_ALLOW_GROWTH
same "growth is never overridden" false "$out"
says "but what it means is said" 'gmod-tensorflow: TF_FORCE_GPU_ALLOW_GROWTH=false is kept.*one piece' "$err"
TF_FORCE_GPU_ALLOW_GROWTH='' expect "nor is an empty value" 0 "$tensorflow" printenv TF_FORCE_GPU_ALLOW_GROWTH
same "which stays empty" "" "$out"
TF_GPU_ALLOCATOR=cuda_malloc_async outcome "$tensorflow" printenv TF_GPU_ALLOCATOR
same "the allocator is never overridden" cuda_malloc_async "$out"
TF_GPU_ALLOCATOR=cuda_malloc_async outcome "$tensorflow" --explain-env
says "and what it means is said" '^    as you set it: each tensor is an allocation in stream order' "$out"
outcome "$tensorflow" --per-tensor printenv TF_GPU_ALLOCATOR
same "by --per-tensor it is set" cuda_malloc_async "$out"
expect "options go to gmod" 0 "$tensorflow" -o max_cpu=3 printenv GMOD_OPTIONS
says "options arrive" 'max_cpu=3' "$out"
expect "a bad option" 2 "$tensorflow" --max_cp=3 true
says "is complained about in its own name" '^gmod-tensorflow: unknown option' "$err"
expect "a command that is not there" 127 "$tensorflow" no-such-command
says "is too" '^gmod-tensorflow: no-such-command: command not found' "$err"
outcome "$tensorflow" env
says_not "which the job does not inherit" '^GMOD_COMMAND=' "$out"
# A daemon's child may ignore SIGCHLD, and then gets to know nothing of its own ones.
expect "where SIGCHLD is ignored, also by the job" 0 timeout 20 python3 -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$build/gmod-tool" supervise grep -q '^SigIgn:.*1....$' /proc/self/status
outcome "$tensorflow" doctor
says "doctor is not supervised" '^options +all at their defaults$' "$out"
says_not "and nothing is said of a share" 'guarded is not known' "$err"

expect "--explain-env" 0 "$tensorflow" --explain-env -o max_cpu=3 sh -c 'echo ran'
says_not "--explain-env runs nothing" '^ran$' "$out"
for name in TF_FORCE_GPU_ALLOW_GROWTH=true LD_PRELOAD= GMOD_OPTIONS=; do
	says "--explain-env shows $name" "^$name" "$out"
done
expect "an option of the command is the command's" 0 "$tensorflow" printf '%s' --explain-env
same "and reaches it" --explain-env "$out"
finish
