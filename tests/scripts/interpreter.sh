#!/usr/bin/env bash
# The interpreter of PTX that the prover is compared with finds the bad accesses that were computed by hand.
. "$(dirname "$0")/testlib"
needs_python3

expect interpreter 0 "$GMOD_TEST_PYTHON" tests/prove/test_interpreter.py

finish
