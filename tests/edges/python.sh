#!/usr/bin/env bash
# Reports name the lines of a Python program, and leave it alone otherwise: with every Python here that GMOD can read.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# A name with letters that are not Latin, one of them beyond 16 bits, and a byte that is no letter.
script=$all_work/$'na\xc3\xafve \xe6\x96\x87\xe4\xbb\xb6 \xf0\x9f\x90\x8d \xff.py'
cp tests/edges/python.py "$script"
export PYTHONDONTWRITEBYTECODE=1

# python_of MINOR: an interpreter of that version; nothing where there is none.
python_of() {
	local each
	for each in "python3.$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$1".*/bin/python3 "/usr/bin/python3.$1" python3; do
		"$each" -c "import ctypes, sys; sys.version_info[1] == $1 and print(sys.executable)" 2>/dev/null | grep . && return
	done
}

# with_each CHECK: what the check says of each version that can be read; it finds the interpreter in $python.
with_each() {
	local minor python
	for minor in 11 12 13 14; do
		python=$(python_of "$minor")
		if [ "$python" ]; then
			"$1" "3.$minor"
		else
			skip "$1 3.$minor" "Python 3.$minor is not installed"
		fi
	done
}

# told NAME OPTIONS CASE [ARGUMENT]: what its reports say of its stacks is what the interpreter says.
told() {
	local name=$1 options=$2
	shift 2
	mkdir -p "$work/folder"
	guarded "log_format=json:max_reports=1000:log_path=$work/report.json:$options" "$python" "$script" "$@"
	mv "$work/guarded.out" "$work/expected"
	out=$("$python" "$script" compare 16 "$work/expected" "$work/report.json" 2>&1)
	rm -f "$work/report.json"
}

# all_told NAME CASE COUNT [ARGUMENT]
all_told() {
	told "$1" '' "$2" "${4:-$work/folder}"
	same "$1" "0 $3 compared" "$status $out"
}

constructs_threads_and_reloads() {
	all_told "constructs, threads and reloads $1" together 100
}
check_lines() {
	with_each constructs_threads_and_reloads
}

ends() {
	all_told "a forked child $1" forked 1
	all_told "the last calls $1" finalised 2
	all_told "a thread that Python does not know $1" unknown 1 "$edges/plugin_unknown.so"
}
check_ends() {
	with_each ends
}

places() {
	all_told "one kernel at two places $1" twice 1
}
check_places() {
	with_each places
}

# Threads that are still there when Python ends lose their states.
left_behind() {
	local ends=
	while [ ${#ends} -lt 8 ]; do
		guarded log_path=/dev/null "$python" "$script" busy
		ends+=" $status"
	done
	same "threads that are left behind $1" " 0 0 0 0" "$ends"
}
check_left_behind() {
	with_each left_behind
}

check_text() {
	local python
	python=$(command -v python3)
	guarded verbosity=1 "$python" "$script" forked
	says "text: where it was allocated" '^      at .*/na.*ve .* \\xff\.py:[0-9]+ in Cuda\.allocate$' "$err"
	says "text: where it was launched" '^         launched$' "$err"
	says "text: by whom" '^           at .*\.py:[0-9]+ in Cuda\.change$' "$err"
	says "text: the site" '^SUMMARY: .* offset \+0 .*\.py:[0-9]+ in Cuda\.allocate$' "$err"
	says_not "text: the interpreter's frames are folded" '^ +#[0-9]+ .* (lib)?python3' "$err"
	says_not "text: so is its file" '^    module .*/(lib)?python3[^/]*( build-id .*)?$' "$err"
	says "text: what would suppress it" ' file of suppressions: heap-buffer-overflow:Cuda\.allocate && one$' "$err"
	says_not "text: no native frames beside them" '^ +#[0-9]+ ' "$err"
	mkdir -p "$work/site-packages"
	cp "$edges/plugin_users.so" "$work/site-packages"
	guarded '' "$python" -c 'import ctypes, sys
ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[1]).users_free_twice()' "$work/site-packages/plugin_users.so"
	says_not "text: nor those of a package" '^ +#[0-9]+ ' "$err"
	guarded symbolize=1 "$python" -c 'import ctypes, sys
ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[1]).users_free_twice()' "$edges/plugin_users.so"
	same "text: but those of a library that a user has written, with their lines" 'at <string>:3 in <module>
#0 users_free_twice  plugin_users.c:9' "$(sed -nE '/ buffer /,/ freed /s/^      //p' <<<"$err" | sed -E 's|  .*/|  |')"
	guarded '' "$python" "$script" layered 5
	same "text: four frames of a launch" 4 "$(grep -c '^           at ' <<<"$err")"
	guarded faults=exact "$python" "$script" layered 5
	same "text, faults=exact: all of them" 10 "$(grep -c '^           at ' <<<"$err")"
	cp "$edges/plugin_users.so" "$work/libc10_cuda.so"
	guarded verbosity=1 "$python" -c 'import ctypes, sys
ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[1]).users_free_twice()' "$work/libc10_cuda.so"
	says "text: the buffers of PyTorch hold tensors" 'GMOD: guarded 1 of 1 .*; PyTorch cuts tensors out of these buffers: gmod --per-tensor ' "$err"
	guarded verbosity=1 timeout 20 "$python" -c 'import ctypes, os, sys, threading, time
ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[1]).users_free_twice()
inside, visit = threading.Event(), ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)
slow = visit(lambda *_: inside.set() or time.sleep(60) or 1)
threading.Thread(target=lambda: ctypes.CDLL(None).dl_iterate_phdr(slow, None), daemon=True).start()
inside.wait()
os._exit(3)' "$work/libc10_cuda.so"
	same "text: the end waits for no thread that has the lock of the loader" "3 1" "$status $(grep -c '; PyTorch cuts ' <<<"$err")"
	guarded verbosity=1:python_lines=0 "$python" "$script" forked
	says_not "text, python_lines=0: native frames only" '^ +at | launched$' "$err"
	says "text, python_lines=0: all of them" '^ +#[0-9]+ .* (lib)?python3' "$err"
	echo 'heap-buffer-overflow:Cuda.allocate' >"$work/suppressed"
	guarded "suppressions=$work/suppressed" "$python" "$script" forked
	ended "text: suppressed by a function" 0 0
}

# What gmod report makes of it, of text and of JSON.
check_report() {
	local python
	python=$(command -v python3)
	guarded log_path="$work/log.text" "$python" "$script" forked
	guarded log_format=json:log_path="$work/log.json" "$python" "$script" forked
	json "report" '^finding=1$' "$(cat "$work/log.json")"
	out=$(scripts/gmod report "$work/log.text" "$work/log.json")
	says "report: one group for both" '^2 findings in 1 group, from logs of 2 processes$' "$out"
	says "report: the site is a line of Python" '^1\. heap-buffer-overflow: Cuda\.allocate na.*\.py:[0-9]+$' "$out"
	says "report: where it was allocated" '^      at .*/na.*\.py:[0-9]+ in Cuda\.allocate$' "$out"
	says "report: where it was launched" '^ +launched at .*\.py:[0-9]+ in Cuda\.change$' "$out"
}

# Another version has native frames, and works.
check_other_version() {
	local python
	python=$(python_of 10)
	[ "$python" ] || { skip other_version "Python 3.10 is not installed"; return; }
	guarded verbosity=2 "$python" -c "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)"
	same "other_version" "0 0" "$status $(final_reports "$err")"
}

run_checks "$@"
