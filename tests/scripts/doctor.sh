#!/usr/bin/env bash
# gmod doctor: with a driver (the simulated one), and without any.
. "$(dirname "$0")/testlib"

expect "with a driver" 0 env LD_LIBRARY_PATH="$build/sim" scripts/gmod doctor
says "names the library" "^library +.*libgmod.so, loaded" "$out"
says "names the driver" "^driver +.*$build/sim/libcuda.so.1, CUDA [0-9]+\.[0-9]+" "$out"
says "names a device" "^device 0 +.*GiB, concurrentManagedAccess=1" "$out"
says "names the backend" "backend device: canaries" "$out"
says "counts the hooks" "^hooks +[1-9][0-9]* of [0-9]+ armed" "$out"
says "what it does not set is at its default" "^options +all at their defaults$" "$out"
says "says which Python has lines" '^python +lines of CPython 3[.]11 to 3[.]14; .* native frames only$' "$out"
same "no closing summary" "" "$err"
says_not "the driver is not too new" '^newer' "$out"
expect "with a newer driver" 0 env LD_LIBRARY_PATH="$build/sim/14.0" scripts/gmod doctor
same "with a newer driver: what GMOD does not know" cuMemAlloc "$(sed -nE 's/^newer +([^ ]*) .*/\1/p' <<<"$out")"

# concludes NAME STATUS PATTERN [VARIABLE=VALUE...] -- OPTION...: the last line, and the exit status.
concludes() {
	local name=$1 want=$2 pattern=$3 variables=()
	shift 3
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	shift
	expect "$name: exit status" "$want" env LD_LIBRARY_PATH="$build/sim" "${variables[@]}" scripts/gmod "$@" doctor
	says "$name: the last line" "^guarding +$pattern$" "$(tail -n 1 <<<"$out")"
}
concludes "all is well" 0 yes --
concludes "no lines of Python" 0 yes -- --python_lines=0
says "no lines of Python: says so" '^python +native frames only$' "$out"
concludes "a share of them" 0 'yes, one allocation in 1000 \(sample_rate\)' -- --sample_rate=1000
concludes "switched off" 1 'off \(enabled=0\)' -- --enabled=0
concludes "native" 1 'pinned memory only \(backend=native\)' -- --backend=native
says "native: so is the device" 'backend native, as backend=native asks' "$out"
concludes "a device that cannot" 1 'pinned memory only \(backend=managed, and no device has concurrentManagedAccess\)' SIM_CONCURRENT_MANAGED=0 \
	GMOD_OPTIONS=backend=managed --
plugin=$build/edges/plugin_quota.so
concludes "another library in front" 1 'no: another library passes GMOD by' "LD_PRELOAD=$plugin $build/libgmod.so" --
says "another library in front: which" "^ +dlsym is that of $plugin, .* libgmod.so first" "$out"
concludes "another library for one name" 1 'no: another library passes GMOD by' "LD_PRELOAD=$build/edges/plugin_one_name.so $build/libgmod.so" --
says "another library for one name: the others are armed" "^hooks +[1-9][0-9]* of [0-9]+ armed" "$out"
concludes "another library behind" 0 yes "LD_PRELOAD=$plugin" --
concludes "a driver that does not start" 1 'no: the driver does not start' SIM_FAIL=cuInit:1 --

LD_LIBRARY_PATH='' outcome scripts/gmod doctor
if grep -q '^driver.*CUDA' <<<"$out"; then
	echo "this machine has a driver: what doctor says without one is not tested"
else
	same "without a driver: exit status" 1 "$status"
	says "without a driver: says so" "^driver +(none: |.*cuInit says )" "$out"
	same "without a driver: nothing on stderr" "" "$err"
	says_not "without a driver: no device" "^device" "$out"
	says "without a driver: what to do" "install the NVIDIA driver|nvidia-smi" "$out"
	says "without a driver: the last line" "^guarding +no: the(re is no driver| driver does not start)$" "$(tail -n 1 <<<"$out")"
fi
finish
