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

# ---- --fault: the simulated driver as a GPU, whose kernels are in a file of PTX ----

mkdir -p "$work/build/demo"
cp "$build/libgmod.so" "$build/gmod-tool" "$work/build"
cp "$build/demo/demo" "$work/build/demo"
cp "$build/demo/kernels.so" "$work/build/demo/kernels.ptx"

# faults NAME STATUS [VARIABLE=VALUE...] -- OPTION...: the exit status of doctor --fault.
faults() {
	local name=$1 want=$2 variables=(LD_LIBRARY_PATH="$build/sim" GMOD_BUILD="$work/build")
	shift 2
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	shift
	expect "--fault, $name: exit status" "$want" env "${variables[@]}" scripts/gmod "$@" doctor --fault
}
place='in kernel scale, at .*tests/demo/kernels\.cu:[0-9]+, instruction scale\+0x[0-9a-f]+, block \(0,0,0\), thread \(0,0,0\)'
faults "named" 0 --
says "--fault: doctor says what it says" '^guarding +yes$' "$out"
says "--fault: what will be in the kernel's log" "^fault +a kernel reads at NULL .* Xid\$" "$out"
says "--fault: where that was" "^ +named: $place\$" "$(tail -n 1 <<<"$out")"
same "--fault: nothing on stderr" "" "$err"
faults "whatever the options" 0 -- --faults=off --log_path="$work/log" --log_format=json
says "--fault, whatever the options: where that was" "^ +named: $place\$" "$out"
faults "switched off" 1 -- --enabled=0
says "--fault, switched off: what may be the reason" '^ +not named: .* with the options enabled=0:$' "$out"
faults "the environment has dumps made" 1 CUDA_COREDUMP_FILE="$work/own" --
says "--fault, the environment has dumps made: why not" '^ +not named: faults=exact is not possible: .*CUDA_COREDUMP_' "$out"
faults "an empty dump" 1 SIM_DUMP_EMPTY=1 --
says "--fault, an empty dump: what the program said" '^    .*GMOD: post-mortem' "$out"
faults "under MPS" 1 SIM_MPS=1 --
says "--fault, under MPS: none is made" '^fault +none was made' "$(tail -n 1 <<<"$out")"
says "selftest has no fault" 'usage: gmod .options. doctor \[--fault\]' "$(scripts/gmod selftest --fault 2>&1)"

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
