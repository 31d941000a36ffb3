# guarded: some
# limit: 150
# env: CUBLAS_WORKSPACE_CONFIG=:4096:8
"""Training steps of a small residual network in PyTorch, made deterministic: the losses are the same in every run."""

from frameworks import needs_torch

torch = needs_torch()

from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return torch.relu(x + self.layers(x))


def network():
    return nn.Sequential(
        nn.Conv2d(3, 33, 3, padding=1),
        Block(33),
        nn.MaxPool2d(2),
        Block(33),
        nn.Flatten(),
        nn.Linear(33 * 15 * 15, 10),
    )


def main():
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    model = network().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for step in range(20):
        images = torch.randn(17, 3, 31, 31).cuda()
        labels = torch.randint(10, (17,)).cuda()
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.6f}")


main()
