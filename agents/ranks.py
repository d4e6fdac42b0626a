"""The processes that train together, started by `torchrun`: sums over all of them, and what must be equal.

Alone, everything here is what it is for one. Communication is gloo's on processors, nccl's between GPUs.
"""

import os
from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

from casino_env.errors import CasinoError


class Ranks:
    """This process among `size`, its number `rank` and its `device`."""

    def __init__(self, rank: int = 0, size: int = 1, device: str = "cpu") -> None:
        self.rank, self.size, self.device = rank, size, torch.device(device)

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes."""
        return self.rank == 0

    def sum(self, values: Sequence[float]) -> NDArray[np.float64]:
        """Sums of the values over all ranks."""
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        if self.size > 1:
            dist.all_reduce(total)
        return total.cpu().numpy()

    def wait(self) -> None:
        """Until every rank has come here."""
        if self.size > 1:
            dist.barrier()

    def average_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace each gradient by its mean over all ranks."""
        if self.size == 1:
            return
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([gradient.ravel() for gradient in gradients])
        dist.all_reduce(flat)
        flat /= self.size
        sizes = [gradient.numel() for gradient in gradients]
        for gradient, mean in zip(gradients, flat.split(sizes), strict=True):
            gradient.copy_(mean.view_as(gradient))

    def check_equal(self, tensors: Iterable[Tensor]) -> str:
        """A hash of the tensors; RuntimeError if that of another rank differs."""
        content = b"".join(tensor.detach().cpu().numpy().tobytes() for tensor in tensors)
        mine = sha256(content).hexdigest()[:16]
        if self.size > 1:
            hashes = [""] * self.size
            dist.all_gather_object(hashes, mine)
            if len(set(hashes)) > 1:
                raise RuntimeError(f"parameters differ between ranks: {', '.join(hashes)}")
        return mine


def join_ranks(device: str) -> Ranks:
    """This process among those that `torchrun` started, if it did.

    `device`: `cpu`, `cuda`, or `auto` for GPUs if there is one for each process here. CasinoError if there is
    not, and `cuda` is asked for.
    """
    local, size = int(os.environ.get("LOCAL_RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    here = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "cuda" and gpus < here:  # nccl refuses two processes on one
        found = f"PyTorch finds {gpus} GPUs for {here} process{'es' if here > 1 else ''} on this machine"
        raise CasinoError(f"run.device is 'cuda', and {found}; valid here: auto, cpu")
    name = f"cuda:{local}" if gpus >= here and device != "cpu" else "cpu"
    if name != "cpu":
        torch.cuda.set_device(name)
    if size == 1:
        return Ranks(device=name)
    dist.init_process_group("nccl" if name != "cpu" else "gloo")
    return Ranks(dist.get_rank(), size, name)


def leave_ranks() -> None:
    """Undo `join_ranks`."""
    if dist.is_initialized():
        dist.destroy_process_group()
