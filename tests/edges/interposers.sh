#!/usr/bin/env bash
# Other libraries that interpose what GMOD interposes, in front of it and behind it.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# beside ORDER PLUGIN OPTIONS COMMAND...: runs it under GMOD with another library preloaded first or last. A sanitizer's
# runtime has to stay in front of all.
beside() {
	local list order=$1 plugin=$2 options=$3
	shift 3
	case $order in
	first) list=" $gmod" list="${list% *} $plugin ${list##* }" ;;
	last) list="$gmod $plugin" ;;
	esac
	run_in guarded env "LD_PRELOAD=${list# }" "GMOD_OPTIONS=$options" "$@"
}

# judge_beside ORDER PLUGIN PROGRAM: a bad program has its one report, a good one is as without GMOD.
judge_beside() {
	local order=$1 plugin=$2 program=$3 native what
	what="${plugin##*/} $order, $program"
	case $program in
	good_*)
		run_in native env "LD_PRELOAD=$plugin" "$programs/$program"
		native="$status $out"
		beside "$order" "$plugin" verbosity=1 "$programs/$program"
		same "$what: as without GMOD" "$native" "$status $out"
		return
		;;
	esac
	beside "$order" "$plugin" verbosity=1 "$programs/$program"
	# A dlsym in front of GMOD's that calls the C library's by its version: a program that looks up the driver in its
	# own handle never meets GMOD. It must then run as alone.
	case $order:${plugin##*/}:$program:$status:$(final_reports "$err") in
	first:*_dlsym.so:bad_through_dlopen:0:0)
		skip "$what" "the other library passes GMOD by"
		return
		;;
	esac
	ended "$what: one report" 0 1
	says "$what: suspects" '^k_flip x1' "$(suspects "$err")"
}

check_beside_dlsym() {
	local order program
	for order in first last; do
		for program in bad_overflow_1 bad_through_dlopen bad_through_get_proc_address good_axpy good_zero_and_null \
			good_without_cuda good_fork; do
			judge_beside "$order" "$programs/plugin_dlsym.so" "$program"
		done
	done
}

# Hooks the driver, and dlsym for those who look it up.
check_beside_driver_and_dlsym() {
	local order program
	for order in first last; do
		for program in bad_overflow_1 bad_through_dlopen bad_through_get_proc_address good_axpy good_fork; do
			judge_beside "$order" "$edges/plugin_wrap_dlsym.so" "$program"
		done
	done
}

# Hooks the driver, and finds what is behind it by RTLD_NEXT, or in the driver's handle.
check_beside_driver() {
	local order program
	for order in first last; do
		for program in bad_overflow_1 bad_through_get_proc_address good_axpy good_fork good_without_cuda; do
			judge_beside "$order" "$edges/plugin_wrap_alloc.so" "$program"
		done
	done
}

check_beside_driver_in_private() {
	judge_beside first "$edges/plugin_wrap_alloc.so" bad_through_dlopen
	judge_beside last "$edges/plugin_wrap_alloc.so" bad_through_dlopen
}

# One that looks for the driver in its handle must not be given itself.
check_beside_driver_in_its_handle() {
	export PLUGIN_IN_HANDLE=1
	judge_beside first "$edges/plugin_wrap_alloc.so" bad_overflow_1
	judge_beside last "$edges/plugin_wrap_alloc.so" good_axpy
	unset PLUGIN_IN_HANDLE
}

# GPU sharing in clusters: one that is asked by dlsym alone, and one whose dlsym answers with whatever is first in the
# process. In front of GMOD they find the driver past it, for programs that ask them: such a program runs as without GMOD,
# and it is said. In front of them GMOD guards, and they see every call.
check_beside_sharing() {
	local plugin program
	for plugin in plugin_quota plugin_share; do
		for program in bad_overflow_1 bad_through_dlopen bad_through_get_proc_address good_axpy good_fork good_without_cuda; do
			judge_beside last "$edges/$plugin.so" "$program"
			[ "$program" = good_without_cuda ] ||
				says "$plugin.so last, $program: it sees all" 'plugin: inits seen, launches seen' "$err"
			judge_passed_by "$edges/$plugin.so" "$program"
		done
	done
}

# judge_passed_by PLUGIN PROGRAM: as without GMOD, and said if it was, with the plugin in front.
judge_passed_by() {
	local plugin=$1 program=$2 native what
	what="${plugin##*/} first, $program"
	run_in native env "LD_PRELOAD=$plugin" "$programs/$program"
	native="$status $out"
	beside first "$plugin" verbosity=1 "$programs/$program"
	same "$what: as without GMOD" "$native" "$status $out"
	case $err:$program in
	*:good_without_cuda | *'GMOD: guarded '[1-9]*) says_not "$what: nothing is said" 'passed GMOD by' "$err" ;;
	*) says "$what: that GMOD was passed by is said" 'passed GMOD by' "$err" ;;
	esac
}

check_beside_malloc() {
	local library order program
	for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
		# The loader complains where it is not installed. A sanitizer's runtime has a malloc of its own.
		if [ "$gmod" != "${gmod% *}" ] || [ -n "$(LD_PRELOAD=$library env true 2>&1)" ]; then
			skip "beside $library" "it cannot be preloaded here"
			continue
		fi
		for order in first last; do
			for program in bad_overflow_1 bad_through_dlopen good_axpy good_fork; do
				judge_beside "$order" "$library" "$program"
			done
		done
	done
}

# The other one still gets to see what the program does.
check_plugin_is_called() {
	local plugin order program
	for plugin in plugin_wrap_alloc plugin_wrap_dlsym; do
		for order in first last; do
			beside "$order" "$edges/$plugin.so" '' "$programs/bad_overflow_1"
			says "plugin_is_called: $plugin $order, linked" 'plugin: launches seen' "$out"
		done
	done
	for order in first last; do
		beside "$order" "$edges/plugin_wrap_dlsym.so" '' "$programs/bad_through_dlopen"
		says "plugin_is_called: plugin_wrap_dlsym $order, through dlopen" 'plugin: launches seen' "$out"
	done
}

# A profiler's _exit is called, before GMOD's or after it.
check_beside_exit() {
	local order
	for order in first last; do
		beside "$order" "$edges/plugin_wrap_exit.so" '' "$programs/bad_then_underscore_exit"
		ended "beside_exit: $order: one report" 7 1
		says "beside_exit: $order: _exit is called" '^plugin: _exit seen$' "$out"
		beside "$order" "$edges/plugin_wrap_exit.so" '' "$programs/bad_then_c99_exit"
		ended "beside_exit: $order: one report before _Exit" 7 1
		says "beside_exit: $order: _Exit is called" '^plugin: _Exit seen$' "$out"
	done
}

# One whose dladdr looks for the next one by dlsym, while GMOD looks for the C library's dlsym.
check_beside_dladdr() {
	local order program
	for order in first last; do
		for program in good_without_cuda good_axpy bad_overflow_1; do
			judge_beside "$order" "$edges/plugin_wrap_dladdr.so" "$program"
		done
	done
}

# UCX is given the driver's functions, behind GMOD's, to write over; any other library GMOD's.
check_beside_ucx() {
	local ucm=$work/libucm.so.0 native
	cp "$edges/plugin_ucm.so" "$ucm"
	run_in native env "LD_PRELOAD=$ucm" "$programs/good_axpy"
	says "beside_ucx: natively it finds the driver" '^/libcuda\.so' "$out"
	native="$status $out"
	beside last "$ucm" verbosity=1 "$programs/good_axpy"
	same "beside_ucx: so it does under GMOD" "$native" "$status $out"
	says "beside_ucx: GMOD guards" 'guarded 3 of 3 buffers' "$err"
	beside last "$edges/plugin_ucm.so" '' "$programs/good_axpy"
	says "beside_ucx: another finds GMOD" '^/libgmod\.so' "$out"
}

# A library that looks for what stands behind itself, beside one that interposes the driver but not dlsym.
check_rtld_next() {
	local order native
	for order in first last; do
		run_in native env "LD_PRELOAD=$edges/plugin_wrap_alloc.so" "$programs/good_rtld_next"
		native="$status $out"
		beside "$order" "$edges/plugin_wrap_alloc.so" verbosity=1 "$programs/good_rtld_next"
		same "rtld_next: plugin_wrap_alloc $order" "$native" "$status $out"
	done
}

check_openmp() {
	local order
	[ -x "$edges/openmp" ] || {
		skip openmp "the compiler has no OpenMP"
		return
	}
	as_alone openmp verbosity=1 "$edges/openmp"
	same "openmp: alone" '0 4000 bytes right, 4 threads, 4 lookups' "$native"
	says "openmp: all is guarded" 'guarded 4 of 4 buffers' "$err"
	guarded '' "$edges/openmp" overflow
	ended "openmp: an overflow is reported" 0 1
	for order in first last; do
		beside "$order" "$programs/plugin_dlsym.so" verbosity=1 "$edges/openmp"
		same "openmp: beside another dlsym, $order" "$native" "$status $out"
	done
}

run_checks "$@"
