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
	for option in enabled backend scan_interval_us max_cpu mapped placement sample_rate halt_on_error exitcode log_path log_format stack_depth \
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

# small_mapped=N: the first N that are there at once.
check_small_mapped() {
	guarded small_mapped=2 "$programs/bad_small_mapped"
	same "small_mapped: two of three buffers are mapped" "2 1" "$(buffers_of mapped) $(buffers_of unified)"
	guarded small_mapped=0 "$programs/bad_small_mapped"
	same "small_mapped=0: none" "0 3" "$(buffers_of mapped) $(buffers_of unified)"
	# A 256th of the device's memory.
	guarded '' env SIM_MEMORY=1073741824 "$programs/bad_small_mapped"
	same "small_mapped: as many as the device is large enough for" "2 1" "$(buffers_of mapped) $(buffers_of unified)"
}

# mapped=0: none of any size, small_mapped or not, and what is written beside them is found.
check_mapped() {
	local name
	for name in bad_small_mapped bad_large_underflow_1 bad_large_across_the_border bad_size_odd_3_mib bad_overflow_1; do
		guarded mapped=1 "$programs/$name"
		says "mapped: $name: by default there are some" 'backend mapped' "$err"
		expected=$(found "$err")
		guarded mapped=0:small_mapped=64 env "SIM_TRACE=$work/trace" "$programs/$name"
		says_not "mapped=0: $name: none" 'backend mapped' "$err"
		same "mapped=0: $name: the same is found" "$expected" "$(found "$err")"
		same "mapped=0: $name: no device memory to be mapped" 0 "$(grep -c '^cuMemCreate ' "$work/trace")"
		rm "$work/trace"
	done
	guarded mapped=0:verbosity=2 "$program"
	says "mapped=0: it is said" 'device 0: backend unified, all buffers managed$' "$err"
}

# placement=0: the driver is told nothing about where memory is to be, and what is not on the device still counts there.
check_placement() {
	local name memory=SIM_MEMORY=402653184
	for name in bad_small_mapped bad_large_underflow_1 bad_size_odd_3_mib bad_managed_underflow bad_overflow_behind_rounding; do
		guarded mapped=0 env "SIM_TRACE=$work/placed" "$programs/$name"
		expected=$(found "$err")
		guarded mapped=0:placement=0:verbosity=1 env "SIM_TRACE=$work/left" "$programs/$name"
		same "placement=0: $name: the same is found" "$expected" "$(found "$err")"
		says "placement=0: $name: and nothing is degraded" ' 0 degraded' "$err"
		same "placement=0: $name: pages are left alone" "yes no" "$(placed "$work/placed") $(placed "$work/left")"
		rm "$work/placed" "$work/left"
	done
	guarded mapped=0:placement=0:verbosity=1 env "$memory" "$edges/fill_device" 1048576
	says "placement=0: the device is full in the end, and says so" 'CUDA_ERROR_OUT_OF_MEMORY.* [01] MiB free' "$out"
	[ "${out%% *}" -le 768 ]
	judge "placement=0: and has not grown without end" $? "$out of 1 MiB of 384 MiB"
	guarded mapped=0:placement=0 "$programs/good_mem_info"
	same "placement=0: what is freed is free again" "adds up" "$out"
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

# Devices without concurrentManagedAccess: one line says so, and all is native.
check_no_concurrent_access() {
	as_alone no_concurrent_access verbosity=1 env SIM_CONCURRENT_MANAGED=0 "$program"
	says "no_concurrent_access: no device buffer is guarded" 'guarded 0 of 3 buffers' "$err"
	same "no_concurrent_access: it is said once" 1 "$(grep -c concurrentManagedAccess <<<"$err")"
}

# verbosity=2: what was decided for a device is said once, however many contexts it has.
check_backend_said() {
	guarded verbosity=2 "$programs/good_context"
	same "backend_said: once" 1 "$(grep -cE '^==[0-9]+==GMOD: device 0: backend ' <<<"$err")"
	says "backend_said: unified" 'device 0: backend unified, large buffers mapped$' "$err"
	guarded verbosity=2:backend=native "$program"
	says "backend_said: native" 'device 0: backend native, device buffers are not guarded$' "$err"
	guarded verbosity=1 "$program"
	says_not "backend_said: at verbosity=2 only" 'device 0: backend' "$err"
	guarded verbosity=2 env SIM_DEVICES=2 "$programs/good_two_devices"
	says "backend_said: of each device" 'device 1: backend unified' "$err"
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
