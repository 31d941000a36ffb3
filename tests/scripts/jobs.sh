#!/usr/bin/env bash
# The jobs of the bench, without the frameworks: the networks' tables, the protocol, what they say when they cannot run.
. "$(dirname "$0")/testlib"
needs_python3
jobs=$top/bench/jobs

# ---- the networks ----

outcome env PYTHONPATH="$jobs" python3 -c '
from tables import NETWORKS, count
for name, network in sorted(NETWORKS.items()):
    print(name, network.parameters, count(network.layers))'
same "the tables have the parameters that the networks are known for" "alexnet 61100840 61100840
inception_v3 27161264 27161264
resnet50 25557032 25557032
vgg16 138357544 138357544" "$out"

cat >"$work/wrong.py" <<'PYTHON'
import sys, types

class Network:
    def __init__(self, layers):
        pass

    def parameters(self):
        return [types.SimpleNamespace(numel=lambda: 7)] * 3

sys.modules["network"] = types.SimpleNamespace(Network=Network)
import train
train.built("alexnet")
PYTHON
expect "another network than the known one is not measured" 1 env PYTHONPATH="$jobs" python3 "$work/wrong.py"
same "and is named" "train.py: alexnet has 21 parameters, not 61100840" "$err"

# ---- the protocol ----

# A job whose iterations take 2 ms each, once someone waits for them, and whose memory is the number of iterations.
# With an argument it has a monitor thread, which is always busy.
cat >"$work/fake.py" <<'PYTHON'
import sys, threading, time
import worker

started = waited = 0

def step():
    global started
    started += 1

def synchronize():
    global waited
    time.sleep((started - waited) / 500)
    waited = started

def monitor():
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as f:
        f.write("gmod-monitor")
    named.set()
    while True:
        pass

if sys.argv[1:]:
    named = threading.Event()
    threading.Thread(target=monitor, daemon=True).start()
    named.wait()
    worker.serve(worker.Job(step, synchronize), block=2, warm_up=1, stretch=0.1)
else:
    worker.serve(worker.Job(step, synchronize, lambda: started, 21), block=20, warm_up=2, stretch=0.1)
PYTHON

# talk LINES [ARGUMENT]: with the fake job; $out has its answers.
talk() {
	out=$(printf '%b' "$1" | PYTHONPATH=$jobs python3 "$work/fake.py" "${@:2}" 2>"$work/err")
	status=$?
	err=$(cat "$work/err")
}
# near NAME LOW HIGH NUMBER
near() {
	awk -v low="$2" -v high="$3" -v number="$4" 'BEGIN { exit !(number ~ /^[0-9.]+$/ && number >= low && number <= high) }'
	judge "$1" $? "$4 is not between $2 and $3"
}
answer() {
	sed -n "$1p" <<<"$out"
}

talk ""
same "ready after the warm-up" "ready" "$out"
same "the end of the input is the end of the job" "0 " "$status $err"

talk 'memory\n\nmemory\ntokens\nmonitor\nagain\n'
same "an answer for each line" "0 7" "$status $(wc -l <<<"$out")"
same "the warm-up comes before ready" 2 "$(answer 2)"
near "a block: milliseconds an iteration" 2 1000 "$(answer 3)"
same "one iteration before a block is not timed" 23 "$(answer 4)"
same "tokens" 21 "$(answer 5)"
same "no monitor thread" -1 "$(answer 6)"
near "any other line is a block, too" 2 1000 "$(answer 7)"

talk 'memory\ntokens\nmonitor\n' monitored
same "what the job does not know" "-1 -1" "$(answer 2) $(answer 3)"
near "the monitor's share of a core" 1 200 "$(answer 4)"

# ---- what they say when they cannot run ----

# refuses NAME PATTERN SCRIPT ARGUMENT...
refuses() {
	expect "$1" 2 python3 "$jobs/$3" "${@:4}"
	one_line "$1: in one line" "$err"
	says "$1: says why" "$2" "$err"
	same "$1: nothing else" "" "$out"
}
refuses "no model" '^train.py: .*MODEL' train.py
refuses "an unknown model" '^train.py: .*resnet51.*alexnet' train.py resnet51
refuses "an unknown option" '^train.py: .*--blocks' train.py alexnet --blocks 3
refuses "a batch of nothing" '^train.py: .*--batch.*not a positive number: 0' train.py alexnet --batch 0
refuses "an unknown phase" '^llama.py: .*train.*prefill.*decode' llama.py train
refuses "a block that is no number" '^llama.py: .*--block.*not a positive number: x' llama.py decode --block x
refuses "no warming up at all" '^train.py: .*--warm-up.*not a positive number: 0' train.py alexnet --warm-up 0
refuses "an argument too many" '^jax_train.py: .*more' jax_train.py more

mkdir "$work/missing" "$work/blind"
for name in torch jax; do
	echo "raise ImportError('No module named $name')" >"$work/missing/$name.py"
done
echo 'class cuda: is_available = lambda: False' >"$work/blind/torch.py"
echo 'default_backend = lambda: "cpu"' >"$work/blind/jax.py"

# skips NAME WHY MODULES SCRIPT ARGUMENT...
skips() {
	expect "$4: $1" 77 env PYTHONPATH="$work/$3" python3 "$jobs/$4" "${@:5}"
	same "$4: $1: says so" "skipped: $2" "$err"
	same "$4: $1: nothing else" "" "$out"
}
skips "no framework" "No module named torch" missing train.py alexnet
skips "no framework" "No module named torch" missing llama.py prefill
skips "no framework" "No module named jax" missing jax_train.py
skips "no GPU" "PyTorch sees no GPU" blind train.py vgg16 --batch 1
skips "no GPU" "PyTorch sees no GPU" blind llama.py decode --block 5
skips "no GPU" "JAX sees no GPU" blind jax_train.py
finish
