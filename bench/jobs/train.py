"""Training of an image network on made-up images, in single precision with PyTorch's defaults.

    train.py resnet50|inception_v3|vgg16|alexnet [--block N] [--blocks N] [--warm-up N] [--batch N] [--ranks N]

With ranks, so many processes of torchrun train together, on a GPU each, by DDP over NCCL, and the first of them says how
long that took. job.py says what it prints.
"""

import ctypes
import os
import signal
import sys

import job
from tables import NETWORKS

PR_SET_PDEATHSIG = 1  # linux/prctl.h
AUXILIARY = 0.4  # the weight of an auxiliary classifier's loss


def arguments():
    parser = job.Parser(block=5)
    parser.add_argument("model", metavar="MODEL", choices=NETWORKS, help=", ".join(NETWORKS))
    parser.add_argument("--batch", type=job.positive, default=32, metavar="N", help="images (%(default)s)")
    parser.add_argument("--ranks", type=job.positive, default=1, metavar="N", help="processes (%(default)s)")
    return parser.parse_args()


def built(name):
    import network

    model = network.Network(NETWORKS[name].layers)
    parameters = sum(p.numel() for p in model.parameters())
    if parameters != NETWORKS[name].parameters:
        sys.exit(f"train.py: {name} has {parameters} parameters, not {NETWORKS[name].parameters}")
    return model


def training(torch, name, batch):
    """A function that trains for one iteration."""
    torch.manual_seed(0)
    size = NETWORKS[name].size
    model = built(name).cuda()
    if torch.distributed.is_initialized():
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    images = torch.randn(batch, 3, size, size, device="cuda")
    labels = torch.randint(1000, (batch,), device="cuda")
    loss_of = torch.nn.functional.cross_entropy

    def step():
        scores, *auxiliary = model(images)
        loss = sum((AUXILIARY * loss_of(a, labels) for a in auxiliary), loss_of(scores, labels))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


def launch(ranks):
    """Becomes torchrun, and this program each of its ranks."""
    if job.pytorch().cuda.device_count() < ranks:
        job.skip(f"fewer than {ranks} GPUs")
    os.environ["OMP_NUM_THREADS"] = "1"
    job.ends_of_ranks()
    words = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", *sys.argv]
    os.execv(sys.executable, [sys.executable, *words])


def join():
    """A rank sees its own GPU only, and all but the first say nothing."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # it is in a session of its own
    rank = os.environ["LOCAL_RANK"]
    os.environ["CUDA_VISIBLE_DEVICES"] = rank
    if rank != "0":
        sys.stdout = open(os.devnull, "w")
    torch = job.pytorch()
    torch.distributed.init_process_group("nccl")
    return torch


def main():
    options = arguments()
    together = "LOCAL_RANK" in os.environ
    if options.ranks > 1 and not together:
        launch(options.ranks)
    torch = join() if together else job.pytorch()
    job.run_torch(torch, training(torch, options.model, options.batch), options)
    if together:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
