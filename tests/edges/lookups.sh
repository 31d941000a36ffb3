#!/usr/bin/env bash
# What dlsym and cuGetProcAddress find, name by name: whatever the driver lacks is not there under GMOD either.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# same_as_alone NAME DRIVER-DIRECTORY ARGUMENT [PLUGIN]: with the plugin, first and last of the two preloaded. GMOD stands
# for the driver. Where it is in front of the plugin, it stands for that too, and only what is there is compared; but what
# the plugin itself finds is then not GMOD.
same_as_alone() {
	local name=$1 path=$2 argument=$3 plugin=${4:-} native preload edit
	alone env "LD_LIBRARY_PATH=$path" ${plugin:+"LD_PRELOAD=$plugin"} "$edges/lookups" ${argument:+"$argument"}
	native="$status"$'\n'"$out"
	for preload in ${plugin:+"$plugin:$gmod"} "$gmod${plugin:+:$plugin}"; do
		edit='s/libgmod\.so/libcuda.so.1/'
		[ "${preload#"$gmod":}" = "$preload" ] || edit='/^plugin/!s/: .*\.so.*//'
		run_in guarded env "LD_LIBRARY_PATH=$path" "LD_PRELOAD=$preload" "$edges/lookups" ${argument:+"$argument"}
		same "$name${plugin:+, ${preload##*/} last}" '' \
			"$(diff <(sed "$edit" <<<"$native") <(sed "$edit" <<<"$status"$'\n'"$out"))"
	done
}

check_without_driver() {
	same_as_alone without_driver /nowhere ''
	same "without_driver: nothing is found" '0 ' "$status $out"
	same_as_alone "without_driver, another interposer" /nowhere '' "$edges/plugin_wrap_alloc.so"
}

check_driver() {
	same_as_alone driver "$build/sim" driver
	says "driver: all is found" 'default cuMemcpyBatchAsync' "$out"
	same_as_alone "driver, another interposer" "$build/sim" driver "$edges/plugin_wrap_alloc.so"
}

check_old_driver() {
	same_as_alone old_driver "$edges/old" old
	says "old_driver: something is found" 'default cuMemAlloc_v2: libgmod' "$out"
	says_not "old_driver: something is not" 'cuLaunchKernel' "$out"
	as_alone "old_driver: what it lacks is no error" '' env "LD_LIBRARY_PATH=$edges/old" "$programs/good_leaves_no_error"
	as_alone "old_driver: nor where GMOD stays out of the way" enabled=0 env "LD_LIBRARY_PATH=$edges/old" "$programs/good_leaves_no_error"
	same_as_alone "old_driver, another interposer" "$edges/old" old "$edges/plugin_wrap_alloc.so"
}

# armed DRIVER-DIRECTORY: how many hooks the closing line counts.
armed() {
	guarded verbosity=1 env "LD_LIBRARY_PATH=$1" "$programs/good_axpy"
	sed -nE 's/.* ([0-9]+) hooks armed.*/\1/p' <<<"$err" | tail -n 1
}

check_older_driver() {
	same_as_alone older_driver "$build/sim/12.2" driver
	says "older_driver: something is found" 'default cuCtxCreate_v3: libgmod' "$out"
	says_not "older_driver: something is not" 'cuCtxCreate_v4' "$out"
	guarded verbosity=1 env "LD_LIBRARY_PATH=$build/sim/12.2" "$programs/bad_graph_launch"
	ended "older_driver: a graph's kernels are found" 0 1
	same "older_driver: what it cannot be asked about them is no failure" 0 "$(closing degraded "$err")"
	same "older_driver: and is not counted" yes "$([ "$(armed "$build/sim/12.2")" -lt "$(armed "$build/sim")" ] && echo yes)"
}

# What the table does not reach is passed through and named, and nothing else is.
check_newer_driver() {
	as_alone newer_driver verbosity=1 env "LD_LIBRARY_PATH=$build/sim/14.0" "$edges/newer"
	says "newer_driver: all is there" 'cuMemAlloc: 0' "$out"
	same "newer_driver: what is newer is named once" cuMemAlloc "$(sed -n "s/.* driver's \(.*\) is newer than .*/\1/p" <<<"$err")"
	says "newer_driver: and counted" 'guarded 1 of 1 buffer,.*; 1 newer entry point' "$err"
	as_alone "newer_driver: not so new" verbosity=1 "$edges/newer"
	says_not "newer_driver: not so new: nothing is said" 'newer' "$err"
}

# before_and_after NAME PLUGIN: a library that calls something like the API, preloaded behind libgmod.so or loaded later.
before_and_after() {
	alone env "LD_PRELOAD=$2" "$edges/pointers"
	native="$status $out"
	run_in guarded env "LD_PRELOAD=$gmod $2" GMOD_OPTIONS=verbosity=1 "$edges/pointers"
	same "$1: preloaded, as alone" "$native" "$status $out"
	says "$1: preloaded, guarded" 'guarded 1 of 1 buffer,' "$err"
	as_alone "$1: loaded later" verbosity=1 "$edges/pointers" "$2"
	says "$1: loaded later, guarded" 'guarded 1 of 1 buffer,' "$err"
}

# It may be data ...
check_pointers() {
	local native
	before_and_after pointers "$edges/plugin_pointers.so"
	same "pointers: used" $'0 before: nothing\none place: 1\nused: well' "$native"
}

# ... or functions, which load the driver when they are called.
check_wrappers() {
	local plugin=$edges/plugin_wrappers.so native
	before_and_after wrappers "$plugin"
	as_alone "wrappers: without a driver" verbosity=1 env LD_LIBRARY_PATH=/nowhere "$edges/pointers" "$plugin"
}

check_weak() {
	as_alone weak verbosity=1 "$edges/weak"
	same "weak: there is none" '0 a driver: no' "$native"
	alone env "LD_PRELOAD=$build/sim/libcuda.so.1" "$edges/weak"
	native="$status $out"
	run_in guarded env "LD_PRELOAD=$gmod $build/sim/libcuda.so.1" "$edges/weak"
	same "weak: with a driver, as alone" "$native" "$status $out"
}

# With some ten thousand signals a second.
check_profiled() {
	as_alone profiled '' "$edges/profiled"
	same "profiled: it walks" '0 walked' "$native"
}

run_checks "$@"
