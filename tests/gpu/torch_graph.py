# guarded: some
# limit: 120
# env: CUBLAS_WORKSPACE_CONFIG=:4096:8
"""CUDA graphs in PyTorch: a training step is captured once and replayed."""

from frameworks import needs_torch

torch = needs_torch()

from torch import nn


def main():
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    model = nn.Sequential(nn.Linear(301, 503), nn.ReLU(), nn.Linear(503, 7)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    images = torch.randn(64, 301, device="cuda")
    labels = torch.randint(7, (64,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)

    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = step()
    generator = torch.Generator().manual_seed(1)
    for i in range(30):
        images.copy_(torch.randn(64, 301, generator=generator))
        graph.replay()
        if i % 5 == 0:
            print(f"replay {i}: loss {loss.item():.6f}")


main()
