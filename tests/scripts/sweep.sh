#!/usr/bin/env bash
# gmod prove --sweep: numbers of a command line are varied, what the program would launch is proved, and nothing of the
# program is left behind. Of the programs with bugs three are tried, all where the test is thorough.
. "$(dirname "$0")/testlib"
needs_python3
export XDG_CACHE_HOME=$work/cache TRITON_CACHE_DIR=$work/none TORCHINDUCTOR_CACHE_DIR=$work/none
[ "$(uname -m)" = x86_64 ] || { echo "programs with a runtime in themselves are known on x86-64 only" && exit 77; }
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || { echo "no nvcc" && exit 77; }
python=$(python_with_z3)
[ -n "$python" ] || { echo "z3-solver is not installed" && exit 77; }

mkdir "$work/ptx" "$work/here"
source=tests/prove/sweep/cases.cu
"$nvcc" -arch=sm_80 -lineinfo -ptx -o "$work/ptx/cases.ptx" $source && "$nvcc" -g -arch=sm_80 -lineinfo -o "$work/cases" $source
judge "the programs are built" $?
cd "$work/here" || exit 1

# sweep SECONDS ARGUMENT...: what is not in the program's image comes from the file, for there may be no cuobjdump.
sweep() {
	outcome "$python" -B -I "$top/scripts/prove" --sweep -j 1 --ptx "$work/ptx" --seconds "$@"
}

# ---- bugs, and their twins ----

# found NAME NUMBER...: from numbers with which the program is healthy; the twin is healthy with all that are tried.
found() {
	local line
	line=$(grep -n "/\* BUG $1 \*/" "$top/$source" | cut -d : -f 1)
	sweep "${seconds:-20}" --fail -- "$work/cases" "$@"
	same "$1: an alarm" 86 "$status"
	says "$1: the line" "^[0-9]+\. possible-out-of-bounds: .*cases\.cu:$line\$" "$out"
	says "$1: the line's text" "^    $line \| [^ ].*;( .*)? /\* BUG $1 \*/\$" "$out"
	same "$1: nothing else" 1 "$(grep -E '^[0-9]+\. ' <<<"$out" | sed 's/.* //' | sort -u | wc -l)"
	says "$1: how to confirm it" "^    to confirm it: (gmod --exact --fence_side=(start|end)( --fence_align=[0-9]+)?|compute-sanitizer .*) $work/cases $1 [0-9]+" "$out"
	text=$out
	sweep "${seconds:-4}" --fail -- "$work/cases" "$1-good" "${@:2}"
	same "$1: its twin is healthy" 0 "$status"
	says_not "$1: all of the twin's is proved" '^undecided:' "$out"
	says "$1: and it has launches" '^[0-9]+ launch signatures? ' "$out"
}

seconds=4
found fours 1024
line=$(grep -n 'cudaMalloc(' "$top/$source" | cut -d : -f 1)
same "the buffer was allocated where cudaMalloc is called" "float* room<float>(unsigned long) cases.cu:$line" "$(sed -n 's/^    allocated by //p' <<<"$text")"
found pitch 64 8
found wraps 4096
if [ -n "${GMOD_TEST_THOROUGH-}" ]; then
	seconds=20
	found rest 1024
	found halo 512 8
	found shared 256
	found transpose 64 64
	found scan 1024
	found batches 512 4
	found local 8
	found strides 4096 4
	found unrolled 1024
fi

# A program that is linked with the shared runtime needs that one to start.
if "$nvcc" -arch=sm_80 -cudart shared -o "$work/shared" "$top/$source" 2>/dev/null && ! ldd "$work/shared" | grep -q 'not found'; then
	sweep 3 --fail -- "$work/shared" fours 1024
	same "a program with the shared runtime" 86 "$status"
else
	skip "a program with the shared runtime" "there is no libcudart.so"
fi
strip -o "$work/stripped" "$work/cases"
sweep 1 -- "$work/stripped" fours 1024
says "a stripped program" 'stripped is stripped: the functions of the CUDA runtime' "$err"

# ---- what is varied ----

sweep 20 --vary 2=1000..1003 -- "$work/cases" rest 1024
says "one number, over a range" '^note: 5 runs of ' "$out"
says "all of it" '^note: all numbers were tried ' "$out"
sweep 3 -- "$work/cases" rest
says "no number: one run" '^note: 1 run of ' "$out"
says "no number: says so" '^note: the command line has no number to vary; --vary N=1\.\.64 makes its argument N one$' "$out"
sweep 3 --vary 7=1..2 -- "$work/cases" rest 5
same "an argument that is not there" "2 gmod prove: --vary 7: the command has 2 arguments" "$status $err"
sweep 3 --vary 7=2..1 -- "$work/cases" rest 5
says "no range" '^gmod prove: argument --vary: 7=2\.\.1 is not PLACE=FROM\.\.TO' "$err"
sweep 3 -- "$work/absent" 5
same "no program" "2 gmod prove: $work/absent: there is no such program" "$status $err"
printf '#!/bin/sh\necho 5\n' >"$work/script"
chmod +x "$work/script"
sweep 3 -- "$work/script" 5
says "a script" 'script is no program in machine code' "$err"
sweep 3 -- /bin/true 5
says "a program of the system" '^gmod prove: /bin/true is stripped: ' "$err"

# ---- programs that do not behave ----

cat >"$work/wild.cu" <<'CUDA'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cuda_runtime.h>
__global__ void one(float *out) { out[threadIdx.x] = 1; }
int main(int argc, char **argv)
{
	float *at;
	const char *how = argv[1];
	if (!strcmp(how, "files")) {
		FILE *file = fopen("kept.txt", "w");
		for (long i = 0; file && i < 1L << 40; i++)
			if (fprintf(file, "%0100000ld\n", i) < 0)
				break;
	} else if (!strcmp(how, "forks")) {
		for (int i = 0; i < 3; i++)
			if (!fork()) {
				setsid();
				signal(SIGTERM, SIG_IGN);
				if (fork())
					return 0;
				sleep(1000);
			}
	} else if (!strcmp(how, "waits")) {
		getchar();
	} else if (!strcmp(how, "memory")) {
		for (;;)
			*(char *)malloc(1 << 30) = 1;
	} else if (!strcmp(how, "array")) {
		cudaArray_t array;
		cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
		if (cudaMallocArray(&array, &format, 8, 8) != cudaSuccess)
			return 4;
	}
	cudaMalloc(&at, atoi(argv[2]) * 4);
	one<<<1, atoi(argv[2])>>>(at);
	if (!strcmp(how, "loops"))
		for (;;)
			one<<<1, atoi(argv[2])>>>(at);
	return 0;
}
CUDA
"$nvcc" -arch=sm_80 -lineinfo -ptx -o "$work/ptx/wild.ptx" "$work/wild.cu" && "$nvcc" -arch=sm_80 -lineinfo -o "$work/wild" "$work/wild.cu"
judge "a wild program is built" $?

echo "the user's" >kept.txt
mkdir folder
ln -s nowhere dangling
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
for how in files forks waits memory loops; do
	began=$SECONDS
	sweep 2 -- "$work/wild" $how 32
	same "$how: it succeeds" "0 " "$status $err"
	case $how in # one ends by its limit before it launches
	files | memory) says "$how: it made no launch" '^note: [0-9]+ runs? made no launch: they ended [0-9]+ with SIG' "$out" ;;
	*) says "$how: its launches are proved" '^[0-9]+ launch signatures?, ' "$out" ;;
	esac
	[ $((SECONDS - began)) -lt 20 ]
	judge "$how: in its time" $? "$((SECONDS - began)) s"
	same "$how: nothing is left behind" "$TMPDIR" "$(find "$TMPDIR")"
	same "$how: no process either" "" "$(pgrep -f "$work/wild" || true)"
	same "$how: the user's files are as they were" "the user's dangling folder kept.txt" "$(cat kept.txt) $(find . -mindepth 1 -printf '%P\n' | sort | xargs)"
done
sweep 2 -- "$work/wild" array 32
says "what is not there is named" '^note: asked of CUDA in vain: .*cudaMallocArray' "$out"
says "and that it made no launch" '^note: [0-9]+ runs made no launch: they ended [0-9]+ with status 4' "$out"
finish
