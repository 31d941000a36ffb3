#!/usr/bin/env bash
# gmod prove on random kernels, and on broken journals and PTX.
. "$(dirname "$0")/testlib"
needs_python3
with_z3=$(python_with_z3)

expect "an interpreter of PTX sees nothing outside that is called safe" 0 "${with_z3:-python3}" -B tests/prove/compare.py scripts/prove 40
# shellcheck disable=SC2046
expect "broken journals and PTX are told of in a line each" 0 python3 -B tests/prove/fuzz.py scripts/prove $(seq 60)
finish
