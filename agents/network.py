"""The networks: an actor that scores the legal moves of a view, and a critic that may see all hands.

Axes: `B` games, `M` moves of all games together, `H` hidden units.
"""

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from agents.features import MOVE_WIDTH, hidden_width, state_width


@dataclass(frozen=True)
class NetworkShape:
    """What must be known to rebuild the networks; kept in checkpoints."""

    players: int
    hidden: int = 256
    scorer: int = 128
    merged: bool = False  # equivalent moves are one choice (see `merging`)

    def as_strings(self) -> dict[str, str]:
        """The fields as text, for a checkpoint's metadata."""
        return {name: str(value) for name, value in asdict(self).items()}


class Actor(nn.Module):
    """Scores each legal move: a trunk over the state, plus the move's features, through one hidden layer."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.shape, self.bf16 = shape, False
        self.trunk = _trunk(state_width(shape.players), shape.hidden)
        self.of_state = nn.Linear(shape.hidden, shape.scorer)
        self.of_move = nn.Linear(MOVE_WIDTH, shape.scorer, bias=False)
        self.score = nn.Linear(shape.scorer, 1, bias=False)
        nn.init.normal_(self.score.weight, std=0.01)

    def forward(self, states: Tensor, moves: Tensor, owner: Tensor) -> Tensor:
        """Logits [M] of states [B, F], moves [M, G] and the game of each move, owner [M]."""
        with _products(self.bf16):
            state = self.of_state(self.trunk(states)).index_select(0, owner)
            return self.score(torch.relu(state + self.of_move(moves))).squeeze(-1).float()


class Critic(nn.Module):
    """Value of the state for the seat to act; sees the other hands too, so it serves training only."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.bf16 = False
        self.trunk = _trunk(state_width(shape.players) + hidden_width(shape.players), shape.hidden)
        self.value = nn.Linear(shape.hidden, 1)
        nn.init.zeros_(self.value.weight)

    def forward(self, states: Tensor, hidden: Tensor) -> Tensor:
        """Values [B] of states [B, F] and other hands [B, F']."""
        with _products(self.bf16):
            return self.value(self.trunk(torch.cat([states, hidden], dim=1))).squeeze(-1).float()


def _products(bf16: bool) -> torch.autocast:
    """Matrix products in bfloat16 within the block, if asked for: faster where the processor has them."""
    return torch.autocast("cpu", torch.bfloat16, enabled=bf16)


def _trunk(width: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
