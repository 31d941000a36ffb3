"""Training of ResNet-50 (bench/jobs/train.py) in PyTorch, with planted overflows of 4 bytes: what planted_runs.py runs.

    torch_planted_job.py KIND SEED SECONDS

KIND is one of planted_runs.py's. Ends SECONDS after the first store. Says in words of key=value: planted_ns, when that was
launched; the site and the bytes that PyTorch asked for; and how many stores there were.

Sites are drawn evenly from what a step allocates and Python sees: the output of each layer, the gradient of that, and the
gradient of each parameter. All are hooked from the first step on, so that none stands out. Workspaces, and what a layer
saves for itself, are not among them. For GMOD a site is the depth of the stack and about a size, so that layers share some.
A rare site is a tensor of a size of its own that is made in such a hook. A kept tensor is a parameter, a buffer, a momentum,
the images or the labels.

Nothing is planted in the first 50 steps, since GMOD guards a site's first allocations first.

The store is of a zero: a canary has no such byte, so all four change, also when it comes again. Behind a tensor that has no
canary it may meet another tensor, where zero is a weight, a label and an index like others. Pools are mapped in pages of
2 MiB, so it goes nowhere else unless it is where a page begins: there is none then.

Environment: BATCH (8), EVERY (20; steps, in one of which "once" plants).
"""

import inspect
import itertools
import math
import os
import random
import sys
import time

import planted

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "jobs"))

import job
import train

WARM_UP = 50  # steps
START = 240  # seconds after that until the first store, at most
EVERY = int(os.environ.get("EVERY") or 20)  # steps, in one of which there is a store
RARE, RARE_S = 10, 5  # times, seconds from one to the next
SILENT = "Network", "Sequential", "ReLU", "Flatten"  # these allocate nothing
PAGE = 2 << 20

KERNEL = """
extern "C" __global__ void planted_overflow(unsigned *p, int n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        p[n] = 0;
}
"""


def can_plant(tensor):
    storage = tensor.untyped_storage()
    size, at = storage.nbytes(), storage.data_ptr()
    return size and size % 4 == 0 and at == tensor.data_ptr() and (at + size) % PAGE


class Planter:
    """Is shown the tensors of each step, and overflows the one that is due."""

    def __init__(self, launch, chance):
        self.launch, self.chance = launch, chance
        self.made = lambda tensor: tensor  # what is overflowed where a tensor is due
        self.names, self.site, self.due = {}, None, False
        self.stores, self.first = 0, None

    def watch(self, model):
        for name, module in model.named_modules():
            if type(module).__name__ not in SILENT:
                module.register_forward_hook(lambda m, inputs, output, name=name: self.show_both(name, output))
        for name, parameter in model.named_parameters():
            parameter.register_post_accumulate_grad_hook(lambda p, name=name: self.show(f"{name}:gradient", p.grad))

    def show_both(self, name, output):
        self.show(f"{name}:output", output)
        output.register_hook(lambda gradient: self.show(f"{name}:output-gradient", gradient))

    def show(self, name, tensor):
        self.names[name] = True
        if name == self.site and self.due:
            self.due = not self.plant(name, self.made(tensor))

    def draw_site(self):
        self.site = self.chance.choice(list(self.names))

    def plant(self, name, tensor):
        """Where the first store cannot be, another site is drawn: the same address would come in each step."""
        if not can_plant(tensor):
            if not self.stores:
                self.draw_site()
            return False
        size = tensor.untyped_storage().nbytes()
        if not self.stores:
            self.first = time.monotonic()
            print(f"planted_ns={time.time_ns()} site={name} size={size}", flush=True)
        self.launch(tensor, size // 4)
        self.stores += 1
        print(f"stores={self.stores}", flush=True)
        return True


def kept_tensors(model, optimizer, images, labels, **_):
    momenta = ((f"{n}:momentum", optimizer.state[p]["momentum_buffer"]) for n, p in model.named_parameters())
    all_of = [*model.named_parameters(), *model.named_buffers(), *momenta, ("images", images), ("labels", labels)]
    return [(name, tensor) for name, tensor in all_of if can_plant(tensor)]


def due(planter, kind, parts):
    """Of each step to come: is there to be a store in it?"""
    chance = planter.chance
    if kind == "every":
        yield from itertools.repeat(True)
    while kind == "once":
        at = chance.randrange(EVERY)
        yield from (i == at for i in range(EVERY))
    if kind == "rare":
        begin = time.monotonic()
        for i in range(RARE):
            while time.monotonic() < begin + i * RARE_S:
                yield False
            yield True
    if kind == "kept":
        yield from itertools.repeat(False, chance.randrange(WARM_UP))
        planter.plant(*chance.choice(kept_tensors(**parts)))
    yield from itertools.repeat(False)


def main():
    kind, seed, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    torch = job.pytorch()
    if torch.cuda.get_allocator_backend() != "cudaMallocAsync":
        sys.exit("torch_planted_job: PyTorch allocates by something else than cudaMallocAsync")
    planted.SOURCE = KERNEL
    planter = Planter(planted.load(), random.Random(f"{kind} {seed}"))
    step = train.training(torch, "resnet50", int(os.environ.get("BATCH") or 8))
    parts = inspect.getclosurevars(step).nonlocals
    planter.watch(parts["model"])
    if kind == "rare":
        words = int(math.exp(planter.chance.uniform(0, math.log(4 << 20))))
        planter.made = lambda tensor: torch.zeros(words, dtype=torch.int32, device="cuda")
    for _ in range(WARM_UP):
        step()
    planter.draw_site()
    begin = time.monotonic()
    if kind == "share":
        planter.first = begin
    for count, now in enumerate(due(planter, kind, parts)):
        planter.due = planter.due or now
        step()
        if count % 5 == 0:
            torch.cuda.synchronize()
        if time.monotonic() > (planter.first or begin + START) + seconds:
            break


if __name__ == "__main__":
    main()
