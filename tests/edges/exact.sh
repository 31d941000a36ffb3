#!/usr/bin/env bash
# faults=exact where processes, files and limits are difficult. What programs do beside a fault is in tests/programs/fault.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# named NAME: the report names kernel and line.
named() {
	says "$1: the fault is told" '^==[0-9]+==GMOD: gpu-fault: illegal address: (read|write) of 4 bytes' "$err"
	says "$1: with its line" '^    in kernel fault_(read|store), at .*kernels\.cu:[0-9]+$' "$err"
}

# The dump itself, for a debugger.
check_dump() {
	local dump=$work/the.dump
	guarded "faults=exact:fault_dump=$dump" "$programs/bad_fault_read"
	named dump
	says "dump: the file is named" "the fault's dump is in $dump, for cuda-gdb" "$err"
	same "dump: for its owner only" 600 "$(stat -c %a "$dump" 2>&1)"
	says "dump: it is whole" 'errorPC valid at fault_read\+0x20' "$(python3 -B tests/gpu/faults/read_dump.py "$dump" 2>&1)"
	rm -f "$dump"
	ln -s "$work/elsewhere" "$dump"
	guarded "faults=exact:fault_dump=$dump" "$programs/bad_fault_read"
	named "dump: behind a link"
	[ ! -e "$work/elsewhere" ]
	judge "dump: no link is followed" $?
	guarded "faults=exact:fault_dump=$work/none/dump" "$programs/bad_fault_read"
	named "dump: nowhere"
	says "dump: nowhere: it is said" 'cannot write fault_dump ' "$err"
}

# One line says why not, and there is the post-mortem.
check_not_possible() {
	guarded "faults=exact" env CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 "CUDA_COREDUMP_FILE=$work/own" \
		CUDA_COREDUMP_GENERATION_FLAGS=skip_abort "$programs/bad_fault_read"
	says "the environment has dumps made: it is said" 'faults=exact is not possible: .*CUDA_ENABLE_COREDUMP_ON_EXCEPTION' "$err"
	says "the environment has dumps made: they are" 'fault_read' "$(python3 -B tests/gpu/faults/read_dump.py "$work/own" 2>&1)"
	local setting
	for setting in "CUDA_COREDUMP_FILE=$work/own" CUDA_COREDUMP_GENERATION_FLAGS=skip_global_memory CUDA_ENABLE_COREDUMP_ON_EXCEPTION=0; do
		guarded "faults=exact" env "$setting" "$programs/bad_fault_read"
		says "${setting%%=*} alone: it is said" 'faults=exact is not possible: the driver does not take the settings' "$err"
		says "${setting%%=*} alone: there is the post-mortem" 'GMOD: post-mortem' "$err"
	done
	guarded "faults=exact" env NSYS_PROFILING_SESSION_ID=1 "$programs/bad_fault_read"
	says "under a profiler: it is said" 'faults=exact is not possible: a profiler or debugger' "$err"
	says "under a profiler: there is the post-mortem" 'GMOD: post-mortem' "$err"
}

# Docker's seccomp profile forbids unshare.
check_no_unshare() {
	run_in guarded env "LD_PRELOAD=$edges/plugin_no_unshare.so:$gmod" GMOD_OPTIONS=faults=exact "$programs/bad_fault_read"
	named "no unshare"
	run_in guarded env "LD_PRELOAD=$edges/plugin_no_unshare.so:$gmod" GMOD_OPTIONS=faults=exact "$programs/bad_fault_exit"
	named "no unshare, at the end"
	as_alone "no unshare, no fault" faults=exact env "LD_PRELOAD=$edges/plugin_no_unshare.so:$gmod" "$programs/good_exact_exit"
	same "no unshare: no FIFO is left" '' "$(find /dev/shm -maxdepth 1 -name 'gmod-*' -newer "$work" 2>/dev/null)"
}

# The pipe is root's, and the process no longer. A FIFO in /dev/shm stays closed, because anybody could write there.
check_dropped_root() {
	guarded "faults=exact" "$programs/bad_fault_dropped_root"
	[ "$status" -ne 77 ] || { skip dropped_root "not run as root" && return; }
	named "root given up"
	run_in guarded env "LD_PRELOAD=$edges/plugin_no_unshare.so:$gmod" GMOD_OPTIONS=faults=exact "$programs/bad_fault_dropped_root"
	says "root given up, no unshare: there is the post-mortem" 'GMOD: post-mortem' "$err"
	rm -f "/dev/shm/gmod-$(sed -nE 's/^==([0-9]+)==.*/\1/p' <<<"$err" | head -n 1)"-*
}

# The finding may be the last thing that the process does.
check_halt() {
	guarded "faults=exact:halt_on_error=1:fault_dump=$work/halt.dump" "$programs/bad_fault_read"
	named halt
	same "halt: the status" 86 "$status"
	says "halt: the dump is whole" 'errorPC valid at fault_read' "$(python3 -B tests/gpu/faults/read_dump.py "$work/halt.dump" 2>&1)"
}

# A dump that says nothing, and an end at once: there is a finding all the same.
check_unreadable() {
	guarded "faults=exact:verbosity=1" env SIM_DUMP_CUT=2000 "$programs/bad_fault_exit"
	says "unreadable: it is said" 'exception dump of 2000 bytes tells nothing' "$err"
	says "unreadable: there is the post-mortem" 'GMOD: post-mortem: the GPU gave up with CUDA_ERROR_ILLEGAL_ADDRESS' "$err"
	same "unreadable: the status" 86 "$status"
}

# Where signals are the program's, or nobody's.
check_signals() {
	guarded "faults=exact:signals=0" "$programs/bad_fault_exit"
	named "signals=0"
	same "signals=0: the status" 86 "$status"
	guarded "faults=exact" env --ignore-signal=ABRT "$programs/bad_fault_stay"
	says "SIGABRT ignored: the fault is told" 'GMOD: gpu-fault: ' "$err"
}

# A container's only process.
check_process_1() {
	unshare -r -p -f --mount-proc true 2>/dev/null || { skip "process 1" "no process namespaces here" && return; }
	run_in guarded env "LD_PRELOAD=$gmod" GMOD_OPTIONS=faults=exact unshare -r -p -f --mount-proc "$programs/bad_fault_exit"
	named "process 1"
	same "process 1: the status" 86 "$status"
}

# The error may never come: then a call that vouches for work has waited for it once.
check_forgotten() {
	guarded "faults=exact" env SIM_DUMP_FORGOTTEN=1 "$programs/bad_fault_read"
	named forgotten
	same "forgotten: it is said once" 1 "$(grep -c 'GMOD: a kernel has faulted, and the driver has not said so for 2 s' <<<"$err")"
}

# One device faults; what the other one did before has gone well.
check_two_devices() {
	local line
	line=$(grep -nF 'GT_FAULTS(GT_ACCESS, p, *p);' tests/programs/kernels.cu | cut -d: -f1)
	guarded "faults=exact" env SIM_DEVICES=2 "$programs/bad_fault_two_devices"
	says "two devices: the line" "^    in kernel fault_read, at .*kernels\\.cu:$line\$" "$err"
	says "two devices: the device" '^    buffer .* on device 1, ' "$err"
	ended "two devices: all else went well" 0 1
}

run_checks "$@"
