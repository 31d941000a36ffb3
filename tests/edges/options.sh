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
	same "bad_options: a line each" 5 "$(grep -cE '^==[0-9]+==GMOD: ' <<<"$(grep -vE 'started: |guarded 3' <<<"$err")")"
}

# It goes by the driver's sizes, and complains of each question that the driver answers with no.
check_compute_sanitizer() {
	export NV_SANITIZER_INJECTION_PORT_RANGE_BEGIN=0
	SIM_TRACE=$work/trace guarded "" "$programs/bad_overflow_4"
	says "compute_sanitizer: it is said" 'compute-sanitizer is in the process: GMOD does nothing' "$err"
	says_not "compute_sanitizer: no buffer is longer" 'SUMMARY: GMOD' "$err"
	says_not "compute_sanitizer: no module is asked for a guard" '^cu(ModuleGetFunction|LibraryGetKernel) 500 ' "$(cat "$work/trace")"
	guarded enabled=1 "$programs/bad_overflow_4"
	says "compute_sanitizer: an option guards all the same" 'SUMMARY: GMOD: heap-buffer-overflow' "$err"
	says "compute_sanitizer: and it is said what that means" 'goes by GMOD.s longer buffers' "$err"
	unset NV_SANITIZER_INJECTION_PORT_RANGE_BEGIN
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
	for option in $(scripts/options-table pairs | cut -d= -f1); do
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
	same "backend=unified: a large buffer is so" 1 "$(buffers_of unified)"
	guarded backend=unified "$programs/bad_overflow_1"
	same "backend=unified: a small one is not" "0 1" "$(buffers_of unified) $(buffers_of device)"
	as_alone "backend=unified: a peer may use it" backend=unified env SIM_DEVICES=2 "$programs/good_peer_access"
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
	local total
	guarded redzone_mb=4:verbosity=1 env SIM_MEMORY=134217728 "$edges/fill_device" 2097152
	says "redzone_mb: 2 MiB for each of two buffers of 2 MiB" 'guarded 2 of 6[0-9] buffers' "$err"
	total=$(sed -n 's/.*guarded 2 of \([0-9]*\) buffers.*/\1/p' <<<"$err")
	says "redzone_mb: how many it was too little for" "; $((total - 2)) buffers native beyond redzone_mb" "$err"
	guarded redzone_mb=128:verbosity=1 env SIM_MEMORY=134217728 "$edges/fill_device" 2097152
	says "redzone_mb: what does not fit with our bytes is native" 'guarded 3[01] of 3[0-9] buffers' "$err"
	says_not "redzone_mb: which is not for want of it" 'beyond redzone_mb' "$err"
	guarded redzone_mb=1:verbosity=1 "$edges/busy" 700 1
	says "redzone_mb: long redzones leave most of it to short ones" 'guarded 700 of 700 buffers' "$err"
}

# The line that a report offers covers its finding; one that covers none is named in the end.
check_suppressions() {
	local program name
	cp "$programs/bad_then_return" "$work/a blank"
	for program in "$programs"/bad_{then_return,double_free,illegal_address} "$work/a blank"; do
		name=${program##*/}
		guarded verbosity=1 "$program"
		sed -n 's/^    or, for the file of suppressions: //p' <<<"$err" | sort -u >"$work/rules"
		says "suppressions: $name: a line is offered" '^[a-z-]+:(make_buffer( && [a-z_]+)?|main [a-z_]+\+0x[0-9a-f]+|CUDA_[A-Z_]+)$' "$(cat "$work/rules")"
		guarded "verbosity=1:suppressions=$work/rules" "$program"
		same "suppressions: $name: it covers the finding, and none is left" "0 0" \
			"$(final_reports "$err") $(grep -c 'covered nothing' <<<"$err")"
	done
	printf 'double-free:main %s\n' 'bad_double_free+0x1' >"$work/rules"
	guarded "verbosity=1:suppressions=$work/rules" "$programs/bad_double_free"
	same "suppressions: another place in main stays" 1 "$(final_reports "$err")"
	printf 'leak:*\n*:make_buffer\n# no:rule\n*:of_no_use\n' >"$work/rules"
	guarded "verbosity=1:suppressions=$work/rules" "$programs/bad_then_return"
	says "suppressions: those of no use are named" 'GMOD: suppressions that covered nothing: leak:\*, \*:of_no_use$' "$err"
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
	guarded backend=native "$programs/bad_free_interior"
	says "backend_native: of what buffer" ' buffer \[0x[0-9a-f]+, 0x[0-9a-f]+\) on device 0, backend native$' "$err"
}

check_sample_rate() {
	guarded sample_rate=100:verbosity=1 "$programs/good_neighbours"
	says "sample_rate: one allocation in a hundred is guarded" 'guarded 6 of 600 buffers' "$err"
}

# How often the monitor looks in 400 ms in which the device is in use: it sweeps, and gathers what lies on the device.
check_scan_interval_us() {
	traced '' "$edges/busy" 2 400 launches
	at_least "scan_interval_us: by default, many sweeps" 15 "$(closing sweep "$err")"
	traced scan_interval_us=100000 "$edges/busy" 2 400 launches
	at_most "scan_interval_us=100000: a sweep every 100 ms" 8 "$(closing sweep "$err")"
	at_most "scan_interval_us=100000: a gather every 100 ms" 8 "$(calls_of cuMemcpyBatchAsync_v2)"
	traced scan_interval_us=0 "$edges/busy" 2 400
	at_least "scan_interval_us=0: without pause" 4000 "$(closing sweep "$err")"
	traced '' "$edges/busy" 2 400
	at_most "scan_interval_us: less and less often beside a kernel that is alone" 150 "$(closing sweep "$err")"
}

# A sweep takes some microseconds, a gather more: in 400 ms there is time for few of them.
check_max_cpu() {
	traced max_cpu=0.01 "$edges/busy" 2 400 launches
	at_most "max_cpu=0.01: few sweeps" 20 "$(closing sweep "$err")"
	at_most "max_cpu=0.01: few gathers" 5 "$(calls_of cuMemcpyBatchAsync_v2)"
	traced max_cpu=0.01:scan_interval_us=0 "$edges/busy" 2 400
	at_least "max_cpu=0.01: with scan_interval_us=0 sweeps are without pause" 4000 "$(closing sweep "$err")"
	at_most "max_cpu=0.01: and gathers are not" 5 "$(calls_of cuMemcpyBatchAsync_v2)"
}

# frames: "STACKS MOST": how many stacks the reports have, and the most frames of one.
frames() {
	sed -nE 's/^ +#([0-9]+) .*/\1/p' <<<"$err" | awk '!$1 { n++ } $1 >= most { most = $1 + 1 } END { print n + 0, most + 0 }'
}

# Of the allocation, the first free and the second one; of the allocation; of the call that failed.
check_stack_depth() {
	local name stacks least
	while read -r name stacks least; do
		guarded scan_interval_us=60000000 "$programs/$name"
		at_least "stack_depth: $name: frames" "$least" "$(frames | cut -d' ' -f2)"
		same "stack_depth: $name: stacks" "$stacks" "$(frames | cut -d' ' -f1)"
		guarded stack_depth=1:scan_interval_us=60000000 "$programs/$name"
		same "stack_depth=1: $name: stacks, frames" "$stacks 1" "$(frames)"
		guarded stack_depth=0:scan_interval_us=60000000 "$programs/$name"
		same "stack_depth=0: $name: none" "0 0" "$(frames)"
	done <<-'END'
		bad_double_free 3 2
		bad_then_return 1 2
		bad_illegal_address 1 1
	END
}

# What the device had, and what of it was guarded, in bytes: a line of each process, in a file that is there already.
check_tally() {
	: >"$work/tally"
	guarded "tally=$work/tally:sample_rate=2" "$edges/busy" 4 10
	guarded "tally=$work/tally" "$programs/bad_then_return"
	same "tally: a line for each" "2000 4000,4000 4000," "$(tr '\n' , <"$work/tally")"
	guarded "verbosity=1:tally=$work/none" "$edges/busy" 4 10
	same "tally: there is none, which is counted" "1 no" "$(closing degraded "$err") $([ -e "$work/none" ] && echo yes || echo no)"
}

# Whose heap a buffer of a kernel's lies in is said of it.
check_device_heap() {
	guarded device_heap=slab "$programs/bad_inkernel_overflow"
	says "device_heap=slab: so is it said" "backend slab heap, allocated by mallocN" "$err"
	guarded '' "$programs/good_inkernel_other_layout"
	says "a header that does not fit: it is said" 'gmod_device[.]cuh of another version: ' "$err"
	guarded '' "$programs/good_inkernel_pairs"
	says_not "one that fits: nothing is" 'of another version' "$err"
	SIM_FAIL=cuModuleGetFunction:1:209 guarded verbosity=2 "$programs/good_inkernel_pairs"
	says_not "a module without code for this GPU: it is no failure" 'degraded: ' "$err"
}

# Passes of the guard in 200 ms beside a kernel, and launches that there were: is it as these options want?
guard_is_as_wanted() {
	case $1 in
	device_guard_us=100000) [ "$2" -le 5 ] && [ "$2" -le "$3" ] ;;
	*) [ "$2" -ge 8 ] && [ "$2" -le "$3" ] ;;
	esac
}

# Every ms, or as often as is asked for, and each pass is a launch. A busy machine has some tries. Beside a profiler there
# is no patrol, whose launches would count.
check_device_guard_us() {
	local options busy idle launches
	while read -r options; do
		for _ in {1..20}; do
			CUDA_INJECTION64_PATH=/nowhere traced "$options" "$edges/passes" 200
			read -r busy idle < <(sed -nE 's/^busy ([0-9]+), idle ([0-9]+)$/\1 \2/p' <<<"$out")
			launches=$(calls_of cuLaunchKernel)
			guard_is_as_wanted "$options" "$busy" "$launches" && break
		done
		at_most "$options: none while nothing runs" 2 "${idle:-99}"
		guard_is_as_wanted "$options" "$busy" "$launches"
		judge "$options: passes" $? "$busy, with $launches launches" "$err"
	done <<-'END'
		device_guard_us=1000
		device_guard_us=1000:scan_interval_us=5000000
		device_guard_us=100000
	END
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
	guarded scan_interval_us=60000000 "$edges/ipc_pair" '' past
	says "ipc: another process may be the culprit" '^    incomplete: another process, which imported the buffer, may have written$' "$err"
	says "ipc: so gmod report says" '^    incomplete: another process, which imported the buffer, may have written$' "$(scripts/gmod report --no-symbols - <<<"$err")"
	same "ipc: what the other process writes past the end is seen at the free" "0 3" "$status $(final_reports "$err")"
	guarded '' "$edges/exported"
	says "ipc: nor is a card that has a DMA-BUF cleared" '^    incomplete: another process, which imported the buffer, may have written$' "$err"
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
# Its buffers leak, and what it prints is not flushed before the end.
check_exit_on_findings() {
	guarded exit_on_findings=1:leak_check=1 "$edges/freed_beside"
	same "exit_on_findings: the status is changed, and nothing is lost of what is printed" "86 done" "$status $out"
	same "exit_on_findings: each leak is a finding of its own" "$(final_reports "$err")" \
		"$(grep -o '\[finding [1-9][0-9]*\]' <<<"$err" | sort -u | wc -l)"
	run_in guarded env "LD_PRELOAD=$gmod $edges/plugin_at_end.so" GMOD_OPTIONS=exit_on_findings=1 "$edges/ends_reading"
	same "exit_on_findings: nor of what libraries write, and it ends beside a thread that reads" "86 done, written" "$status $out"
}

# Findings in what kernels allocate, which kernels can forge, have an option of their own.
check_halt_on_error() {
	local name halt
	for name in bad_halt bad_halt_exitcode bad_found_at_free bad_then_return bad_inkernel_{overflow,double_free,invalid_free}; do
		halt=halt_on_error
		[[ $name == bad_inkernel_* ]] && halt=device_halt_on_error
		guarded "$halt=1:exitcode=23:verbosity=1" "$programs/$name"
		same "halt_on_error: $name: status, reports, closing lines" "23 1 1" \
			"$status $(final_reports "$err") $(grep -c '==GMOD: guarded ' <<<"$err")"
		says "halt_on_error: $name: the closing line comes last" '==GMOD: guarded .*; 1 finding ' "$(tail -n 1 <<<"$err")"
	done
	for name in overflow double_free invalid_free; do
		guarded halt_on_error=1:exitcode=23 "$programs/bad_inkernel_$name"
		same "halt_on_error: not at what kernels say of their own memory: $name" "0 1" "$status $(final_reports "$err")"
	done
	guarded device_halt_on_error=1 "$programs/bad_overflow_1"
	same "halt_on_error: nor device_halt_on_error at other findings" "0 1" "$status $(final_reports "$err")"
	guarded halt_on_error=1:log_path=report.log "$programs/bad_halt"
	says "halt_on_error: with a file, stderr says where to look" '^==[0-9]+==GMOD: a finding ends this process; see .*/guarded/report.log$' "$err"
	guarded halt_on_error=1 "$programs/bad_halt"
	says_not "halt_on_error: none unless it is asked for" '==GMOD: guarded ' "$err"
}

run_checks "$@"
