#!/usr/bin/env bash
# gmod doctor: with a driver (the simulated one), and without any.
. "$(dirname "$0")/testlib"

expect "with a driver" 0 env LD_LIBRARY_PATH="$build/sim" scripts/gmod doctor
says "names the library" "^library +.*libgmod.so, loaded" "$out"
says "names the driver" "^driver +.*$build/sim/libcuda.so.1, CUDA [0-9]+\.[0-9]+" "$out"
says "names a device" "^device 0 +.*GiB, concurrentManagedAccess=1" "$out"
says "names the backend" "backend unified" "$out"
says "counts the hooks" "^hooks +[1-9][0-9]* of [0-9]+ armed" "$out"

LD_LIBRARY_PATH='' outcome scripts/gmod doctor
if grep -q '^driver.*CUDA' <<<"$out"; then
	echo "this machine has a driver: what doctor says without one is not tested"
else
	same "without a driver: exit status" 1 "$status"
	says "without a driver: says so" "^driver +(none: |.*cuInit says )" "$out"
	same "without a driver: nothing on stderr" "" "$err"
	says_not "without a driver: no device" "^device" "$out"
fi
finish
