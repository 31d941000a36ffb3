# guarded: some
# limit: 150
"""A DataLoader whose workers are forked from a process that already uses CUDA, with a thread that pins memory."""

from frameworks import needs_torch

torch = needs_torch()

from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        return torch.full((3, 31, 31), float(i % 16)), i * i


def main():
    device = torch.device("cuda")
    total = torch.zeros((), dtype=torch.int64, device=device)
    for epoch in range(3):
        loader = DataLoader(
            Squares(), batch_size=20, num_workers=4, pin_memory=True, multiprocessing_context="fork"
        )
        for images, squares in loader:
            images = images.to(device, non_blocking=True)
            squares = squares.to(device, non_blocking=True)
            total += squares.sum() + images.sum().to(torch.int64)
        print(f"epoch {epoch}: {total.item()}")


main()
