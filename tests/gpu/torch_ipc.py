# guarded: some
# limit: 200
"""
One process hands a tensor to another, which uses it from the other device where there is one: each of the two with and
without what this script was started under.
"""

import os
import subprocess
import sys

from frameworks import needs_torch

SIZE = 1_000_003


def consume(queue, answers, device):
    import torch

    torch.cuda.set_device(device)
    tensor = queue.get()
    answers.put(float(tensor.to(f"cuda:{device}").double().sum()))
    tensor += 1
    torch.cuda.synchronize(tensor.device)
    answers.put("changed")
    queue.get()


def without_preload():
    return {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}


def produce(consumer_with):
    import torch
    import torch.multiprocessing as mp

    context = mp.get_context("spawn")
    queue, answers = context.Queue(), context.Queue()
    tensor = torch.arange(SIZE, dtype=torch.float32, device="cuda:0")
    if not consumer_with:
        os.environ.pop("LD_PRELOAD", None)
    elif os.environ.get("GMOD_TEST_PRELOAD"):
        os.environ["LD_PRELOAD"] = os.environ["GMOD_TEST_PRELOAD"]
    other = context.Process(target=consume, args=(queue, answers, torch.cuda.device_count() - 1))
    other.start()
    queue.put(tensor)
    print(answers.get(timeout=60), answers.get(timeout=60), float(tensor.double().sum()), flush=True)
    queue.put("done")
    other.join()
    return other.exitcode


def main():
    needs_torch()
    preload = os.environ.get("LD_PRELOAD", "")
    status = 0
    for producer_with in (False, True):
        for consumer_with in (False, True):
            environment = {**without_preload(), "GMOD_TEST_PRELOAD": preload}
            if producer_with and preload:
                environment["LD_PRELOAD"] = preload
            words = [sys.executable, os.path.abspath(__file__), "with" if consumer_with else "without"]
            status |= subprocess.run(words, env=environment).returncode
    sys.exit(status)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(produce(sys.argv[1] == "with"))
    main()
