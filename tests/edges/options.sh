#!/usr/bin/env bash
# GMOD_OPTIONS as a process meets it: what is wrong with it is said, and the program runs all the same.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

program=$programs/good_axpy

check_bad_options() {
	as_alone bad_options 'sampel_rate=2:max_cpu=hundred:backend=unifeid:exitcode=999:verbosity=1:nonsense' "$program"
	says "bad_options: an unknown name gets the nearest good one" 'GMOD: .*sampel_rate.*sample_rate' "$err"
	says "bad_options: an unknown word gets the nearest good one" 'GMOD: .*unifeid.*unified' "$err"
	says "bad_options: a number that is none is named" 'GMOD: .*max_cpu.*hundred|GMOD: .*hundred.*max_cpu' "$err"
	says "bad_options: a number out of range is named" 'GMOD: .*exitcode.*999|GMOD: .*999.*exitcode' "$err"
	says "bad_options: a name without a value is named" 'GMOD: .*nonsense' "$err"
	says "bad_options: the default is kept, and good options count" 'guarded 3 of 3 buffers' "$err"
	says "bad_options: it is said that they are ignored" 'GMOD: GMOD_OPTIONS: ignored: .*hundred' "$err"
	same "bad_options: a line each" 5 "$(grep -cE '^==[0-9]+==GMOD: ' <<<"$(grep -v 'guarded 3' <<<"$err")")"
}

# What is wrong comes from outside: it is escaped before it is shown.
check_hostile_options() {
	guarded $'verb\e[31mosity\n==1==GMOD: all is well=1:verbosity=1' "$program"
	same "hostile_options: the program runs" 0 "$status"
	! grep -q $'\e' <<<"$err"
	judge "hostile_options: no control character" $? "$err"
	says_not "hostile_options: no line of its own" '^==1==GMOD: all is well' "$err"
}

check_help() {
	guarded help=1 "$program"
	same "help: the program runs as alone" 0 "$status"
	for option in enabled backend scan_interval_us max_cpu redzone_mb sample_rate halt_on_error exitcode log_path log_format stack_depth \
		leak_check suppressions verbosity help; do
		grep -qE "(^|[^a-z_])$option([^a-z_]|\$)" <<<"$err" || missing="${missing:-} $option"
	done
	same "help: every option is shown" '' "${missing:-}"
}

# enabled=0: the driver sees what it sees without GMOD, call by call.
check_enabled_0() {
	local name native
	for name in "$program" "$edges/everything"; do
		alone env "SIM_TRACE=$work/native.trace" "$name"
		native="$status $out"
		guarded enabled=0:verbosity=2:leak_check=1 env "SIM_TRACE=$work/guarded.trace" "$name"
		same "enabled_0: ${name##*/} runs as alone" "$native" "$status $out"
		same "enabled_0: ${name##*/}: nothing is said" '' "$err"
		differs=$(diff <(cut -d' ' -f1,2 "$work/native.trace") <(cut -d' ' -f1,2 "$work/guarded.trace"))
		judge "enabled_0: ${name##*/}: the driver sees the same calls" $? "$differs"
		rm "$work"/*.trace
	done
	guarded enabled=0 "$programs/bad_then_return"
	same "enabled_0: no report" '' "$err"
}

# buffers_of BACKEND: how many buffers of it are reported. One may be reported twice, at first while its damage still grows.
buffers_of() {
	grep -o "backend $1, allocation #[0-9]*" <<<"$err" | sort -u | wc -l
}

# backend=NAME: where the same overruns are found, and what is said of it.
check_backend() {
	local name backend expected
	for name in bad_overflow_1 bad_size_odd_3_mib bad_overflow_behind_rounding bad_managed_underflow; do
		guarded '' "$programs/$name"
		expected=$(found "$err")
		for backend in device auto unified managed; do
			guarded "backend=$backend" "$programs/$name"
			same "backend=$backend: $name: the same is found" "$expected" "$(found "$err")"
		done
	done
	guarded backend=unified "$programs/bad_size_odd_3_mib"
	same "backend=unified: a large buffer is mapped" 1 "$(buffers_of mapped)"
	guarded backend=unified "$programs/bad_overflow_1"
	same "backend=unified: a small one is not" "0 1" "$(buffers_of mapped) $(buffers_of device)"
	guarded backend=managed "$programs/bad_overflow_1"
	same "backend=managed: managed" 1 "$(buffers_of managed)"
	guarded verbosity=2 "$program"
	says "backend=device: it is said" "device 0: backend device, canaries in the driver's own allocations\$" "$err"
	guarded backend=native:verbosity=1 "$programs/bad_overflow_1"
	says "backend=native: nothing of the device is guarded" 'guarded 0 of 1 buffer.* 0 findings' "$err"
}

# Before each small buffer lies a canary of its own with backend=unified, also where nothing guarded is in front.
check_heads() {
	guarded backend=unified:sample_rate=2 "$programs/bad_underflow_behind_native"
	same "heads: found" 1 "$(grep -c '^SUMMARY: GMOD: heap-buffer-underflow .* size 1000 offset -8' <<<"$err")"
}

# redzone_mb=N: what would take more than natively stays native beyond it, and is counted.
check_redzone_mb() {
	guarded redzone_mb=4:verbosity=1 env SIM_MEMORY=134217728 "$edges/fill_device" 2097152
	says "redzone_mb: 2 MiB for each of two buffers of 2 MiB" 'guarded 2 of 6[0-9] buffers' "$err"
	guarded redzone_mb=128:verbosity=1 env SIM_MEMORY=134217728 "$edges/fill_device" 2097152
	says "redzone_mb: what does not fit with our bytes is native" 'guarded 3[01] of 3[0-9] buffers' "$err"
}

# found TEXT: what a run's final reports say, in a line each.
found() {
	grep '^SUMMARY: GMOD: ' <<<"$1" || echo "nothing, in: $1"
}

# placed TRACE: whether advice or a prefetch is in it
placed() {
	grep -qE '^(cuMemAdvise|cuMemPrefetch)' "$1" && echo yes || echo no
}

# backend=native: device buffers are the driver's own, the rest is watched all the same.
check_backend_native() {
	guarded backend=native:verbosity=1 "$program"
	says "backend_native: no device buffer is guarded" 'guarded 0 of 3 buffers' "$err"
	guarded backend=native "$programs/bad_pinned_by_gpu"
	same "backend_native: pinned memory is watched" 1 "$(final_reports "$err")"
	guarded backend=native "$programs/bad_double_free"
	says "backend_native: a misuse is reported" '^SUMMARY: GMOD: (double|invalid)-free' "$err"
}

check_sample_rate() {
	guarded sample_rate=100:verbosity=1 "$programs/good_neighbours"
	says "sample_rate: one allocation in a hundred is guarded" 'guarded 6 of 600 buffers' "$err"
}

# Devices without concurrentManagedAccess: guarded all the same, but for managed memory. Asked for that, one line says so.
check_no_concurrent_access() {
	as_alone no_concurrent_access verbosity=1 env SIM_CONCURRENT_MANAGED=0 "$program"
	says "no_concurrent_access: guarded" 'guarded 3 of 3 buffers' "$err"
	as_alone "no_concurrent_access, managed" backend=managed:verbosity=1 env SIM_CONCURRENT_MANAGED=0 "$program"
	says "no_concurrent_access: no device buffer is guarded" 'guarded 0 of 3 buffers' "$err"
	same "no_concurrent_access: it is said once" 1 "$(grep -c concurrentManagedAccess <<<"$err")"
}

# With and without GMOD on either side, what one process exports the other one finds where it is.
check_ipc() {
	local natively preload
	alone "$edges/ipc_pair"
	same "ipc: alone" 0 "$status"
	natively=$out
	for preload in '' "$gmod"; do
		alone "$edges/ipc_pair" "$preload"
		same "ipc: native, to ${preload:+a guarded one}" "$natively" "$out"
		guarded verbosity=1 "$edges/ipc_pair" "$preload"
		same "ipc: guarded, to ${preload:+a guarded one}" "$natively" "$out"
		says "ipc: guarded, to ${preload:+a guarded one}: nothing is degraded" 'guarded 3 of 3 buffers.* 0 findings.* 0 degraded' "$err"
	done
	guarded backend=unified "$edges/ipc_pair" ''
	says "ipc: unified refuses it, and says what helps" 'cuIpcGetMemHandle was refused .*backend=device can' "$err"
}

# verbosity=2: what was decided for a device is said once, however many contexts it has.
check_backend_said() {
	guarded verbosity=2:backend=unified "$programs/good_context"
	same "backend_said: once" 1 "$(grep -cE '^==[0-9]+==GMOD: device 0: backend ' <<<"$err")"
	says "backend_said: unified" 'device 0: backend unified, large buffers mapped$' "$err"
	guarded verbosity=2:backend=native "$program"
	says "backend_said: native" 'device 0: backend native, device buffers are not guarded$' "$err"
	guarded verbosity=1 "$program"
	says_not "backend_said: at verbosity=2 only" 'device 0: backend' "$err"
	guarded verbosity=2 env SIM_DEVICES=2 "$programs/good_two_devices"
	says "backend_said: of each device" 'device 1: backend device' "$err"
}

# A halted program has its closing line too, whoever found what halts it: the monitor, a call of the program, or a guard
# pass or a free in a kernel.
check_halt_on_error() {
	local name
	for name in bad_halt bad_halt_exitcode bad_found_at_free bad_then_return bad_inkernel_overflow \
		bad_inkernel_double_free; do
		guarded halt_on_error=1:exitcode=23:verbosity=1 "$programs/$name"
		same "halt_on_error: $name: status, reports, closing lines" "23 1 1" \
			"$status $(final_reports "$err") $(grep -c '==GMOD: guarded ' <<<"$err")"
		says "halt_on_error: $name: the closing line comes last" '==GMOD: guarded .*; 1 finding ' "$(tail -n 1 <<<"$err")"
	done
	guarded halt_on_error=1 "$programs/bad_halt"
	says_not "halt_on_error: none unless it is asked for" '==GMOD: guarded ' "$err"
}

run_checks "$@"
