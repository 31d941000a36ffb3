#!/usr/bin/env bash
# Processes that have nothing to do with CUDA, or must have nothing to do with GMOD: no thread, no file, no output, no
# driver, no time.
#
#   bystanders.sh [NAME...]      NAME: a check, as in check_NAME
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

loud=verbosity=2:leak_check=1:log_path=$all_work/never.log

# untouched NAME COMMAND...: output and exit status are as alone.
untouched() {
	local name=$1 native
	shift
	alone "$@"
	native="$status $out $err"
	guarded "$loud" "$@"
	same "$name: same output and exit status" "$native" "$status $out $err"
	[ ! -e "$all_work/never.log" ]
	judge "$name: no log" $? "$(cat "$all_work/never.log" 2>/dev/null)"
}

# quiet_inside NAME TEXT: TEXT is what a process saw of itself: its threads, descriptors and mappings.
quiet_inside() {
	same "$1: one thread" 'Threads: 1' "$(grep -m 1 '^Threads:' <<<"$2" | tr '\t' ' ')"
	says "$1: GMOD is loaded" 'libgmod\.so' "$2"
	says_not "$1: no libcuda" 'libcuda' "$2"
}

check_bash() {
	# shellcheck disable=SC2016 # that shell expands it
	local look='cat /proc/$$/status /proc/$$/maps; for fd in /proc/$$/fd/*; do echo "$fd"; done'
	untouched bash bash -c 'echo one; echo two >&2; exit 3'
	alone bash -c 'ls /proc/$$/fd'
	native=$out
	guarded "$loud" bash -c 'ls /proc/$$/fd'
	same "bash: same descriptors" "$native" "$out"
	guarded "$loud" bash -c "$look"
	quiet_inside bash "$out"
}

check_ls() {
	local fds
	untouched ls ls "$top/lib"
	untouched ls ls /no/such/directory
	alone ls /proc/self/fd /proc/self/task
	fds=$(wc -l <<<"$out")
	guarded "$loud" ls /proc/self/fd /proc/self/task
	same "ls: same descriptors, one thread" "$fds" "$(wc -l <<<"$out")"
}

check_python() {
	local python
	python=$(command -v python3) || {
		skip python "no python3"
		return
	}
	untouched python "$python" -c 'import sys, threading; print(sum(range(1000)), threading.active_count()); sys.exit(4)'
	guarded "$loud" "$python" -c 'print(open("/proc/self/status").read(), open("/proc/self/maps").read())'
	quiet_inside python "$out"
	# A library looked up by name, as ctypes does, is still not there.
	untouched "python, dlsym" "$python" -c 'import ctypes
try:
    ctypes.CDLL(None).cuInit
    print("there")
except AttributeError:
    print("not there")'
}

check_git() {
	command -v git >/dev/null || {
		skip git "no git"
		return
	}
	untouched git git --version
	untouched git git -c safe.directory='*' -c user.name=x -c user.email=x@y init -q .
}

# What no process can see of itself: the files it opened and the threads it started.
check_system_calls() {
	local name command native
	command -v strace >/dev/null || {
		skip system_calls "no strace"
		return
	}
	for name in bash ls python3 git; do
		case $name in
		bash) command=(bash -c 'echo one | cat') ;;
		ls) command=(ls -l /) ;;
		python3) command=(python3 -c 'print(1)') ;;
		git) command=(git --version) ;;
		esac
		alone strace -ff -qq -e trace=openat,open,creat,clone,clone3,socket,mmap -o "$work/native.$name" "${command[@]}"
		[ "$status" -eq 0 ] || {
			skip "system_calls: $name" "$(head -n 1 <<<"$err")"
			continue
		}
		native=$(opened "$work/native.$name")
		[ -n "$native" ]
		judge "system_calls: $name opens something" $?
		# -E: into the program, and not into strace.
		alone strace -E "LD_PRELOAD=$gmod" -E "GMOD_OPTIONS=$loud" -ff -qq \
			-e trace=openat,open,creat,clone,clone3,socket,mmap -o "$work/guarded.$name" "${command[@]}"
		same "system_calls: $name opens what it opens alone" "$native" "$(opened "$work/guarded.$name")"
		says_not "system_calls: $name starts no thread" CLONE_THREAD "$(grep -h clone "$work/guarded.$name".*)"
	done
}

# opened FILE: the files that were opened, but for the preloaded library itself, by FILE.PID, the traces: one a process,
# because a call that others interrupt stands in two lines of a common one.
opened() {
	sed -nE 's/^(openat|open|creat|socket)\((.*)\) += .*/\1 \2/p' "$1".* | grep -vE 'libgmod\.so|/proc/[0-9]+/' | sort
}

# batch RUNS [LIBRARY]: microseconds that so many starts of a program take.
batch() {
	local n before=${EPOCHREALTIME/[.,]/}
	for ((n = 0; n < $1; n++)); do
		LD_PRELOAD=${2:-} /bin/true
	done
	echo $((${EPOCHREALTIME/[.,]/} - before))
}

least() {
	printf '%s\n' "$@" | sort -n | head -n 1
}

# The library may take 1 ms. Batches alternate, the shortest count, and a machine that is busy gets three tries.
check_start_up_time() {
	local runs=10 try turn added native=() preloaded=()
	for try in 1 2 3; do
		native=() preloaded=()
		for turn in {1..20}; do
			[ $((turn % 2)) -eq 0 ] || native+=("$(batch "$runs")")
			preloaded+=("$(batch "$runs" "$gmod")")
			[ $((turn % 2)) -eq 1 ] || native+=("$(batch "$runs")")
		done
		added=$((($(least "${preloaded[@]}") - $(least "${native[@]}")) / runs))
		[ "$added" -lt 1000 ] && break
	done
	[ "$added" -lt 1000 ]
	judge "start_up_time: ${added} us added, less than 1000" $? "try $try: ${native[*]} / ${preloaded[*]}"
}

# A set-user-ID program: preloading is ignored by the loader, and where the library is linked in it stays out.
check_secure_execution() {
	local copy=$work/secure native
	[ "$(id -u)" -eq 0 ] || {
		skip secure_execution "only root can make a program of another user"
		return
	}
	chmod 755 "$all_work"
	chmod 777 "$work"
	mkdir -m 755 "$work/lib"
	cp "$gmod" "$build/sim/libcuda.so.1" "$work/lib"
	chmod 755 "$work/lib"/*
	# In this mode the loader looks where the program says, by an absolute path, and nowhere else.
	if ! ${CC:-cc} -o "$copy" "$edges/secure.o" -Wl,-rpath,"$work/lib" -Wl,--no-as-needed "$work/lib/libgmod.so" \
		"$work/lib/libcuda.so.1" 2>"$work/link"; then
		fail secure_execution "$(cat "$work/link")"
		return
	fi
	alone env "GMOD_OPTIONS=verbosity=2" "$copy"
	says "secure_execution: otherwise the linked program is guarded" 'GMOD: guarded 1 of 1 buffer,' "$err"
	chown 65534 "$copy" && chmod 4755 "$copy"
	alone env "GMOD_OPTIONS=$loud:help=1" "$copy"
	case $out in
	'secure: 1'*) ;;
	*)
		skip secure_execution "set-user-ID programs do not run as such here: $out$err"
		return
		;;
	esac
	same "secure_execution: it works as alone" "0 secure: 1, buffer of 1000 " "$status $out $err"
	[ ! -e "$all_work/never.log" ]
	judge "secure_execution: no log" $?
	alone env "GMOD_OPTIONS=$loud" "SIM_TRACE=$work/trace" "$copy"
	same "secure_execution: no call of the library's own" 'cuMemAlloc_v2 0' \
		"$(grep -E '^(cuMemAlloc|cuMemAdvise|cuStream)' "$work/trace" | cut -d' ' -f1,2)"
	guarded "$loud" "$copy"
	same "secure_execution: preloading changes nothing" "0 secure: 1, buffer of 1000" "$status $out"
}

# Beside a capture each launch asks whether its stream captures; when that has ended, none does. One that nobody ends does
# no harm but that.
check_capture_dropped() {
	local how asked
	for how in stream invalid; do
		guarded '' env "SIM_TRACE=$work/trace" "$edges/capture_dropped" "$how"
		asked=$(sed '1,/^cuDriverGetVersion /d' "$work/trace" | grep -c '^cuStreamIsCapturing .*libgmod')
		same "capture_dropped: $how: done" 0 "$status"
		same "capture_dropped: $how: launches ask" "$([ "$how" = stream ] && echo 1 || echo 0)" "$asked"
		rm "$work/trace"
	done
}

run_checks "$@"
