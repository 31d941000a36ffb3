#!/usr/bin/env bash
# The jobs of the bench, without the frameworks: the networks' tables, their runs, what they say when they cannot run.
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

# ---- a run ----

# A job whose iterations take 2 ms each, once someone waits for them, and every tenth block ten times that; its memory is
# the number of iterations. With an argument it has a monitor thread, which is always busy, and says nothing of itself.
cat >"$work/fake.py" <<'PYTHON'
import sys, threading, time, types
import job

started = waited = waits = 0

def step():
    global started
    started += 1

def synchronize():
    global waited, waits
    waits += 1
    time.sleep((started - waited) / 500 * (10 if waits % 20 == 0 else 1))
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
    job.run(job.Job(step, synchronize), types.SimpleNamespace(block=2, blocks=5, warm_up=1))
else:
    job.EACH = 40
    job.run(job.Job(step, synchronize, lambda: started, 21, each=True), types.SimpleNamespace(block=3, blocks=20, warm_up=2))
PYTHON

# said KEY: of the line in $out
said() {
	tr ' ' '\n' <<<"$out" | sed -n "s/^$1=//p"
}
# near NAME LOW HIGH NUMBER
near() {
	awk -v low="$2" -v high="$3" -v number="$4" 'BEGIN { exit !(number ~ /^[0-9.]+$/ && number >= low && number <= high) }'
	judge "$1" $? "$4 is not between $2 and $3"
}

expect "a job's run" 0 env PYTHONPATH="$jobs" python3 "$work/fake.py"
same "one line" 1 "$(wc -l <<<"$out")"
near "the median of the blocks: milliseconds an iteration" 2 15 "$(said ms)"
near "their lower quartile" 2 "$(said ms)" "$(said quartile_ms)"
same "all of them" 20 "$(said blocks | tr ',' '\n' | wc -l)"
near "those that were disturbed, too" 20 100 "$(said blocks | tr ',' '\n' | sort -g | tail -n 1)"
near "CPU time of an iteration" 0 2 "$(said cpu_ms)"
same "memory and tokens" "62 21" "$(said memory_bytes) $(said tokens)"
near "an iteration that is waited for" 2 8 "$(said each_ms)"
near "99 of 100 of them: the disturbed ones, too" 20 100 "$(said each_99_ms)"
same "no monitor thread" "" "$(said monitor_percent)"
expect "one with a monitor thread" 0 env PYTHONPATH="$jobs" python3 "$work/fake.py" monitored
same "what the job does not know" "" "$(said memory_bytes)$(said tokens)$(said each_ms)"
near "the monitor's share of a core" 1 200 "$(said monitor_percent)"

# ---- two that take turns ----

cat >"$work/turns.py" <<'PYTHON'
import os, sys, threading, time, types
import job

name, blocks = sys.argv[1], int(sys.argv[2])

def synchronize():
    began = time.monotonic()
    time.sleep(0.002)
    with open(sys.argv[3], "a") as f:
        f.write(f"{began} {time.monotonic()} {name}\n")
    if blocks == 0 and os.environ.get("LOCAL_RANK", "0") == "0":
        sys.exit("no more")
    if blocks == 0:
        time.sleep(60)  # for the other rank, as in an all-reduce

def said_cpus(key):
    cpus = {cpu for task in os.listdir("/proc/self/task") for cpu in os.sched_getaffinity(int(task))}
    print(f"{key}={','.join(map(str, sorted(cpus)))}")

threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
said_cpus("at_first")
job.run(job.Job(lambda: None, synchronize, each=True), types.SimpleNamespace(block=2, blocks=blocks, warm_up=1))
said_cpus("at_last")
PYTHON
PYTHONPATH=$top/bench:$jobs python "two jobs start on all CPUs, run one at a time on one, and each has its turns" <<PYTHON
import os, sys
import processes
job = [sys.executable, "$work/turns.py"]
runs = [([*job, name, "25", "$work/turns"], dict(os.environ)) for name in "ab"]
cpus = os.sched_getaffinity(0)
outputs, _, _ = processes.run_all(runs, 60, {max(cpus)}, turns=True)
for said in map(processes.fields, outputs):
    assert said["at_first"] == ",".join(map(str, sorted(cpus))), said
    assert said["at_last"] == str(max(cpus)), said
assert [len(processes.fields(output)["blocks"].split(",")) for output in outputs] == [25, 25], outputs
steps = sorted((float(begin), float(end), name) for begin, end, name in map(str.split, open("$work/turns")))
assert all(one[1] <= other[0] for one, other in zip(steps, steps[1:])), "two at a time"
changes = sum(one[2] != other[2] for one, other in zip(steps, steps[1:]))
assert changes == 2 * (1 + 3 + 1) - 1, changes  # the last turn has nothing
PYTHON
cat >"$work/ranks.py" <<'PYTHON'
import os, subprocess, sys, time
import job

if sys.argv[1] == "spawn":  # as torchrun, whose children inherit no open files
    ranks = [subprocess.Popen([sys.executable, *sys.argv[2:]], env={**os.environ, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": "2"},
                              stdout=None if rank == "0" else subprocess.DEVNULL) for rank in "01"]
    while max((rank.poll() or 0) for rank in ranks) == 0 and None in [rank.poll() for rank in ranks]:
        time.sleep(0.01)
    for rank in ranks:
        if rank.poll() is None:
            rank.kill()
    sys.exit(max(rank.wait() for rank in ranks))
job.ends_of_ranks()
os.execv(sys.executable, [sys.executable, __file__, "spawn", *sys.argv[1:]])
PYTHON
PYTHONPATH=$top/bench:$jobs python "the ranks of a job have their turns together" <<PYTHON
import os, sys
import processes
runs = [([sys.executable, "$work/ranks.py", "$work/turns.py", name, "25", "$work/together"], dict(os.environ)) for name in "ab"]
outputs, _, _ = processes.run_all(runs, 60, os.sched_getaffinity(0), turns=True)
assert [len(processes.fields(output)["blocks"].split(",")) for output in outputs] == [25, 25], outputs
steps = sorted((float(begin), float(end), name) for begin, end, name in map(str.split, open("$work/together")))
changes = [at for at in range(1, len(steps)) if steps[at][2] != steps[at - 1][2]]
assert len(changes) == 2 * (1 + 3 + 1) - 1, changes
for at in changes:
    assert max(end for _, end, _ in steps[:at]) <= steps[at][0], "a rank of one job beside the other job"
assert sum(one[1] > other[0] for one, other in zip(steps, steps[1:])) > 50, "the ranks do not run at the same time"
PYTHON
PYTHONPATH=$top/bench:$jobs python "where the first rank fails in a turn, its job ends, and what became of it is said" <<PYTHON
import os, sys, time
import processes
runs = [([sys.executable, "$work/ranks.py", "$work/turns.py", name, blocks, "$work/together"], dict(os.environ))
        for name, blocks in (("a", "25"), ("b", "0"))]
began = time.monotonic()
try:
    processes.run_all(runs, 60, os.sched_getaffinity(0), turns=True)
    sys.exit("no failure")
except processes.Failed as e:
    assert "no more" in str(e), e
assert time.monotonic() - began < 30
PYTHON
PYTHONPATH=$top/bench:$jobs python "where one ends, the other goes on, and what became of it is said" <<PYTHON
import os, sys
import processes
runs = [([sys.executable, "$work/turns.py", *words, "$work/alone"], dict(os.environ)) for words in (("a", "25"), ("b", "0"))]
try:
    processes.run_all(runs, 60, os.sched_getaffinity(0), turns=True)
    sys.exit("no failure")
except processes.Failed as e:
    assert "no more" in str(e), e
assert open("$work/alone").read().count(" a\n") > 50
PYTHON

# ---- ways to run a job, side by side ----

mkdir "$work/bin"
printf '#!/bin/sh\necho "NVIDIA Test"\n' >"$work/bin/nvidia-smi"
chmod +x "$work/bin/nvidia-smi"
beside() {
	PATH=$work/bin:$PATH PYTHONPATH=$jobs expect "$1" "$2" "$top/bench/side_by_side.py" "${@:3}"
}
beside "ways to run a job, side by side" 0 0 rare=scan_interval_us=1000000 -- "$work/turns.py" each 12 "$work/beside"
same "side by side: a line a round, and one for each way" "native again rare again rare" \
	"$(grep -oE '(native|again|rare)[=:]' <<<"$out" | tr -d '=:' | tr '\n' ' ' | sed 's/ $//')"
says "side by side: what it takes more, and how sure that is" \
	'^rare: [-+][0-9.]+ % \([-+][0-9.]+ to [-+][0-9.]+\): [-+][0-9.]+$' "$out"
beside "side by side: a job that fails" 1 0 rare= -- "$work/turns.py" each 0 "$work/beside"
says "side by side: says how" 'no more' "$err"
for words in "" "5 gmod=" "x -- job" "5 gmod -- job" "5 native= -- job" "5 gmod= --"; do
	# shellcheck disable=SC2086
	beside "side by side: not understood: '$words'" 2 $words
done

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
refuses "an unknown option" '^train.py: .*--rounds' train.py alexnet --rounds 3
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
